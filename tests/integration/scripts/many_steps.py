"""A training loop of small eager ops on three devices; what it does in some steps and at the end is known.

Usage: many_steps.py STEPS
"""

from __future__ import annotations

import sys

import tensorflow as tf

steps = int(sys.argv[1])
host = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(host, [tf.config.LogicalDeviceConfiguration()] * 3)

with tf.device("cpu:1"):
    weights = tf.Variable(tf.ones((64, 64)))
with tf.device("cpu:2"):
    state = tf.zeros((16, 64))
optimizer = tf.keras.optimizers.SGD(0.001)
for step in range(steps):
    inputs = tf.random.normal((16, 64))
    with tf.GradientTape() as tape, tf.device("cpu:2"):
        hidden = tf.matmul(inputs, weights) + state
        loss = tf.reduce_mean(hidden * hidden)
    gradient = tape.gradient(loss, weights)
    optimizer.apply_gradients([(gradient, weights)])
    with tf.device("cpu:1"):
        state = hidden * 0.5  # crosses to cpu:1, and in the next step back to cpu:2
    if step % 10 == 0:
        loss.numpy()
    float(loss)
with tf.device("cpu:1"):
    held_out = tf.random.normal((1000, 64))
    print("last", tf.argmax(tf.nn.softmax(held_out @ weights)).numpy().shape)
