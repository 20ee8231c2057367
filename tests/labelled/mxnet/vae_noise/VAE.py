"""The model."""

from mxnet import gluon, nd
from mxnet.gluon import nn


def sample_gaussian(mu, lv, batch_size, latent_z):
    epsilon = nd.random_normal(0, 1, shape=(batch_size, latent_z))
    sigma = nd.exp(lv * 0.5)
    z = mu + nd.multiply(sigma, epsilon)  # expect: mixed-context
    return z


def vae_loss(x, y, mu, lv):
    kl = 0.5 * nd.sum(1 + lv - mu**2 - nd.exp(lv), axis=1)
    return nd.sum((x - y) ** 2, axis=1) - kl


class VAE(gluon.Block):
    def __init__(self, latent_z, output, batch_size, **kwargs):
        super().__init__(**kwargs)
        self.latent_z = latent_z
        self.batch_size = batch_size
        with self.name_scope():
            self.enc = nn.Dense(latent_z * 2)
            self.dec = nn.Sequential()
            self.dec.add(nn.Dense(32, activation="relu"), nn.Dense(output, activation="sigmoid"))

    def forward(self, x):
        mu, lv = nd.split(self.enc(x), axis=1, num_outputs=2)
        z = sample_gaussian(mu, lv, self.batch_size, self.latent_z)
        return self.dec(z), mu, lv
