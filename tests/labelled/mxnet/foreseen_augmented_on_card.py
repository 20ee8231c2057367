"""Images are moved to a card and augmented there by Gluon's transforms.

https://github.com/apache/mxnet/issues/17125: "Some operators such as resize or to_tensor work on GPU, but many of
the others are not implemented for GPU."

case: preflight

An expert: flipping and the brightness raise on a card, where image_random.cc has kernels for the host only; resize,
to_tensor and normalize work. The transforms belong before the copy.
"""

import mxnet as mx
import numpy as np
from mxnet import gluon, nd
from mxnet.gluon.data.vision import transforms

ctx = mx.gpu()
flip = transforms.RandomFlipLeftRight()
bright = transforms.RandomBrightness(0.3)
rest = gluon.nn.Sequential()
rest.add(transforms.Resize(24), transforms.ToTensor(), transforms.Normalize(0.5, 0.25))
images = np.random.randint(0, 255, (6, 32, 32, 3)).astype("uint8")


def augmented(image):
    flipped = flip(image)  # expect: no-kernel
    return bright(flipped)  # expect: no-kernel


for image in images:
    x = nd.array(image, ctx=ctx, dtype="uint8")
    x = rest(augmented(x))
nd.waitall()
