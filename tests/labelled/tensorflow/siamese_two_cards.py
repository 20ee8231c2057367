"""Two legs of a siamese network on two cards, merged on the second; the merge's gradients are left to the default.

https://github.com/keras-team/keras/pull/3582: "We create a siamese model, each leg in a difference GPU", merged on
the "default gpu".

An expert: the second leg's card also merges, so the first leg's result goes there. The optimizer's step, and with
it the gradients, has no scope: it all goes to the default device.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)


class Leg(tf.Module):
    def __init__(self, device):
        super().__init__()
        self.device = device
        with tf.device(device):
            self.w = tf.Variable(tf.random.normal((32, 64)))

    def __call__(self, x):
        with tf.device(self.device):
            return tf.nn.relu(tf.matmul(x, self.w))


class Siamese(tf.Module):
    def __init__(self):
        super().__init__()
        self.left, self.right = Leg("CPU:1"), Leg("CPU:2")

    def __call__(self, pair):
        left, right = self.left(pair[0]), self.right(pair[1])
        with tf.device("CPU:2"):
            return tf.reduce_sum(left * right, axis=1)  # expect: info explicit

    @tf.function
    def step(self, pair):
        with tf.GradientTape() as tape:
            similarity = self(pair)
            with tf.device("CPU:2"):
                loss = -tf.reduce_mean(similarity)
        ws = self.trainable_variables
        for w, grad in zip(ws, tape.gradient(loss, ws)):  # expect: gradient-outside-scope
            w.assign_sub(0.01 * grad)  # may: gradient-outside-scope
        return loss


siamese = Siamese()
pair = []
for device in ("CPU:1", "CPU:2"):
    with tf.device(device):
        pair.append(tf.random.normal((16, 32)))
for _ in range(12):
    siamese.step(pair)
