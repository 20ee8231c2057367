import tensorflow as tf

from .loop import Trainer

DEVICE = "CPU:1"


class Linear(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(tf.random.normal((32, 1)))

    def __call__(self, x):
        return tf.matmul(x, self.w)


def main():
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    with tf.device(DEVICE):
        model = Linear()
        batches = [(tf.random.normal((16, 32)), tf.random.normal((16, 1))) for _ in range(8)]
    print(Trainer(model, DEVICE).train(batches)[-1])


if __name__ == "__main__":
    main()
