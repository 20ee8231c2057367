"""A generator yields a model's predictions as numpy arrays, one batch after the other.

https://github.com/tensorflow/tensorflow/issues/44214: "When running `.numpy()`, the inference time increases
more than 2x".

An expert: Python waits for each batch where it is turned into numpy, before the next one is begun.

The tool knew more than the label did: the function is called outside of every scope, so TensorFlow puts the
Identity that returns its result on the default device, and the result goes there and back.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)

with tf.device("CPU:1"):
    kernels = [tf.Variable(tf.random.normal((3, 3, 4, 4))) for _ in range(3)]
    images = tf.random.normal((8, 2, 32, 32, 4))


@tf.function
def model(image):
    with tf.device("CPU:1"):
        for kernel in kernels:
            image = tf.nn.relu(tf.nn.conv2d(image, kernel, 1, "SAME"))
        return image


def predictions(batches):
    for image in batches:
        yield model(image).numpy()  # expect: host-sync; may: bounce, default-device


with tf.device("CPU:1"):
    batches = tf.unstack(images)
total = sum(prediction.sum() for prediction in predictions(batches))
print(total)
