"""A network on two GPUs, which CPU contexts play in a pre-flight; a scale is forgotten on the host."""

# mypy: ignore-errors
import mxnet as mx
from mxnet import autograd, gluon, nd

contexts = [mx.gpu(i) for i in range(mx.context.num_gpus())]
net = gluon.nn.Dense(4)
net.initialize(ctx=contexts)
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
scale = nd.ones((1,))
for _ in range(20):
    x = nd.random.normal(shape=(64, 8))
    losses = []
    with autograd.record():
        for part in gluon.utils.split_and_load(x, contexts):
            losses.append(net(part).mean())
    for loss in losses:
        loss.backward()
    trainer.step(64)
    scaled = losses[1] * scale
    print(contexts, sum(loss.asscalar() for loss in losses))
