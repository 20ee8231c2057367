"""One traced function whose result lies on another card in each second call, used in several places."""

import tensorflow as tf

CPU = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(CPU, [tf.config.LogicalDeviceConfiguration()] * 3)
CARDS = ["CPU:1", "CPU:2"]


@tf.function
def tower(card, x):
    with tf.device(CARDS[card]):
        return tf.nn.relu(x) + 1.0


@tf.function
def doubled(x):
    return 2.0 * x


x = tf.random.normal([100, 100])
for _ in range(5):
    for card in range(2):
        result = tower(card, x)
        in_no_scope = 2.0 * result
        with tf.device("CPU:1"):
            on_the_first = 3.0 * result
        with tf.device("CPU:0"):
            in_a_function = doubled(result)
