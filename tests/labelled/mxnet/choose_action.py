"""An agent asks its network for an action in every step of the game.

https://github.com/apache/mxnet/issues/8189

The state is sent, and the action is copied to the host and taken from there: the copy hides it, but Python
waits for the device at that line in every step. An expert would name it (with many games at once, one wait
serves them all).
"""

import mxnet as mx
import numpy as np
from mxnet import nd
from mxnet.gluon import nn

ctx = mx.cpu(1)
frame_len, image_size = 4, 16
dqn = nn.Sequential()
dqn.add(nn.Conv2D(8, kernel_size=4, strides=2, activation="relu"), nn.Flatten(), nn.Dense(64), nn.Dense(4))
dqn.initialize(ctx=ctx)

rng = np.random.RandomState(0)
state = rng.rand(frame_len, image_size, image_size)
taken = []
for frame in range(30):
    data = nd.array(state.reshape([1, frame_len, image_size, image_size]), ctx)  # expect: info host-upload
    action = int(nd.argmax(dqn(data), axis=1).as_in_context(mx.cpu()).asscalar())  # expect: host-sync
    state = np.roll(state, action + 1, axis=2)
    taken.append(action)
print(taken)
