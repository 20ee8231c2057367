"""Towers of a TensorFlow 1 session stack their gradients on the host, where the variables live.

https://github.com/tensorflow/tensorflow/issues/1268 (the CIFAR-10 tutorial's towers on several GPUs gain
little): variables and the average of the gradients are on "/cpu:0".

An expert: each step the variables go to both towers, and all gradients come back to be averaged on the host.
The norms at the end are only looked at, once.
"""

import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 3
)


def tower_loss(x):
    with tf.device("/cpu:0"):
        w = tf.get_variable("w", (24, 16))
        v = tf.get_variable("v", (16, 1))
    return tf.reduce_mean(tf.square(tf.matmul(tf.nn.relu(tf.matmul(x, w)), v)))  # expect: variable-home


def average_gradients(tower_grads):
    averaged = []
    for grads_and_vars in zip(*tower_grads):
        grads = [tf.expand_dims(grad, 0) for grad, _ in grads_and_vars]  # expect: reduce-on-host
        averaged.append((tf.reduce_mean(tf.concat(grads, 0), 0), grads_and_vars[0][1]))
    return averaged


with tf.device("/cpu:0"):
    optimizer = tf.train.AdamOptimizer(0.01)
    tower_grads = []
    for i in (1, 2):
        with tf.device(f"/cpu:{i}"), tf.variable_scope("model", reuse=tf.AUTO_REUSE):
            loss = tower_loss(tf.random.normal((32, 24)))
            tower_grads.append(optimizer.compute_gradients(loss))
    train_op = optimizer.apply_gradients(average_gradients(tower_grads))
    norms = tf.stack([tf.norm(grads[0][0]) for grads in tower_grads])

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(8):
        sess.run(train_op)
    print("norms", sess.run(norms))
