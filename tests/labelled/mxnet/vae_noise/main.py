"""A variational autoencoder draws its noise on the default context.

https://github.com/apache/mxnet/issues/8794

`nd.random_normal` without `ctx` gives an array on the CPU, the network is on the device. An expert would
name the line that combines them, in the module of the model.
"""

import mxnet as mx
from mxnet import autograd, gluon, nd
from VAE import VAE, vae_loss

ctx = mx.cpu(1)
batch_size = 16
vae = VAE(latent_z=8, output=64, batch_size=batch_size)
vae.collect_params().initialize(mx.init.Xavier(), ctx=ctx)
trainer = gluon.Trainer(vae.collect_params(), "adam", {"learning_rate": 0.001})

batches = nd.random.uniform(shape=(160, 64))
for start in range(0, 160, batch_size):
    data = batches[start : start + batch_size].as_in_context(ctx)
    with autograd.record():
        y, mu, lv = vae(data)
        loss = vae_loss(data, y, mu, lv)
    loss.backward()
    trainer.step(batch_size)
print(loss.mean().asscalar())
