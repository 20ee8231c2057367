"""A recurrent network's state is kept as a numpy array from one window of a text to the next.

https://github.com/clab/dynet/issues/1410: "I am using `prev_hidden = dynet.inputTensor([h.npvalue() for h in
state.s()])` to keep the hidden state of the previous sentence [...] everything slows down by a factor of 3".

An expert: `.numpy()` waits for the window's end, and `tf.constant`, in no scope, makes a tensor of the host that
the next window's function sends to the card again: one round trip over Python, where the tensor itself could be
handed on.

The tool knew more than the label did: the function is called outside of every scope, so TensorFlow puts the
Identity that returns its result on the default device, and the result goes there and back.
"""

import numpy as np
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)

with tf.device("CPU:1"):
    of_state = tf.Variable(tf.random.normal((64, 64), stddev=0.1))
    of_input = tf.Variable(tf.random.normal((16, 64), stddev=0.1))
    windows = tf.unstack(tf.random.normal((12, 5, 32, 16)))


@tf.function
def read(window, state):
    with tf.device("CPU:1"):
        for word in tf.unstack(window):
            state = tf.tanh(tf.matmul(word, of_input) + tf.matmul(state, of_state))  # may: host-upload
        return state


state = np.zeros((32, 64), "float32")
for window in windows:
    last = read(window, tf.constant(state))  # may: bounce, default-device, host-upload
    state = last.numpy()  # expect: bounce; may: host-sync
