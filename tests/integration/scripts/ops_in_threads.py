"""Eager ops of two workers at once, each kind for the first time; then a function, and one beside them."""

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor

import tensorflow as tf

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 3
)
with tf.device("/CPU:0"):
    weights = tf.Variable(tf.ones([64, 8]))
kinds = [tf.abs, tf.negative, tf.square, tf.exp, tf.tanh, tf.nn.relu, tf.floor, tf.sign, tf.sin, tf.cos]
kinds += [tf.sinh, tf.cosh, tf.atan, tf.asinh, tf.round, tf.nn.relu6, tf.nn.elu, tf.nn.selu, tf.nn.softplus]
together = threading.Barrier(2)


def made(shape):
    with tf.device("/CPU:1"):
        last = tf.Variable(tf.ones([8, 6]))

    def values(x):
        return tf.matmul(tf.nn.relu(tf.matmul(x, weights)), last)

    @tf.function
    def step(x, chosen):
        best = tf.reduce_max(values(x + 1.0), axis=1)
        with tf.GradientTape() as tape:
            taken = tf.gather(values(x), chosen, axis=1, batch_dims=1)
            loss = tf.reduce_mean(tf.square(tf.stop_gradient(best) - taken))
        last.assign_sub(0.01 * tape.gradient(loss, last))
        return loss

    with tf.device("/CPU:1"):
        return step, tf.ones([shape, 64]), tf.zeros([shape], tf.int64)


def act(dtypes):
    together.wait()
    for dtype, kind in itertools.product(dtypes, kinds):
        with tf.device("/CPU:2"):
            data = tf.reshape(tf.ones([4, 4], dtype), [2, 8])
            kind(tf.matmul(data, data, transpose_b=True)[:1])


before, x, chosen = made(16)
with ThreadPoolExecutor(2) as pool:
    list(pool.map(act, [[tf.float32]] * 2))
    with tf.device("/CPU:1"):
        for _ in range(10):
            before(x, chosen)
    beside, x, chosen = made(32)
    acting = [pool.submit(act, [tf.float64, tf.bfloat16, tf.float16]) for _ in range(2)]
    with tf.device("/CPU:1"):
        for _ in range(20):
            beside(x, chosen)
    [done.result() for done in acting]
