"""TensorFlow 1: a monitored session in a loop of seven steps, a session in a loop of five, its callable."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
with tf.device("/cpu:1"):
    x = tf.placeholder(tf.float32, (None, 32))
    w = tf.get_variable("w", (32, 1))
    loss = tf.reduce_mean(tf.matmul(x, w))
    step = tf.train.get_or_create_global_step()
    train_op = tf.group(tf.train.GradientDescentOptimizer(0.01).minimize(loss, global_step=step))
host = tf.reduce_sum(tf.zeros((4,)))
words = tf.constant(["a"])
with tf.device("/cpu:0"):
    away = tf.reduce_sum(tf.reshape(w, (16, 2)), axis=0)  # line 16: of what cpu:1 keeps
config = tf.ConfigProto(device_count={"CPU": 2})
with tf.train.MonitoredTrainingSession(config=config) as sess:
    for _ in range(7):
        sess.run(train_op, {x: np.ones((64, 32), np.float32)})  # line 20: fed to cpu:1, a step
        sess.run([host, words, step])  # line 21: one value of the host, one of cpu:1
with tf.Session(config=config) as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(5):
        sess.run(away)
    sess.make_callable(host)()
