"""Breaks the recorder from inside, then trains a step of either framework and prints that it got there."""

import sys


def broken(*_args: object, **_kwargs: object) -> None:
    raise ValueError("made to fail")


if sys.argv[1] == "mxnet":
    import mxnet as mx
    from _hopscope.mx.ops import Ops
    from _hopscope.mx.syncs import Syncs
    from _hopscope.mx.tape import Tape

    Ops._unusual = Syncs.taken = Tape.backward = broken
    x = mx.nd.ones((4, 4), ctx=mx.cpu(1))
    x.attach_grad()
    with mx.autograd.record():
        y = (x * 2).sum()
    y.backward()
    print("trained", y.asscalar(), x.grad.asnumpy().sum())
else:
    import tensorflow as tf
    from _hopscope.tf.eager import EagerOps
    from _hopscope.tf.functions import Functions

    EagerOps._define = Functions.traced = Functions.ended = broken
    w = tf.Variable([[1.0, 2.0]])

    @tf.function
    def loss() -> tf.Tensor:
        return tf.reduce_sum(w * w)

    with tf.GradientTape() as tape:
        y = loss()
    print("trained", y.numpy(), tape.gradient(y, w).numpy().sum())
