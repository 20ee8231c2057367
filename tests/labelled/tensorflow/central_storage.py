"""CentralStorageStrategy keeps the variables on the host for two replicas.

https://github.com/tensorflow/tensorflow/issues/42701: with variables on the CPU they "would need to be copied
over from the CPU" in each forward pass, "neither of which seem very efficient to do in the middle of each
training step. Alternatively .. you could try CentralStorageStrategy".

An expert: each replica reads the variables away from where they live, where the model is called. That the
gradients go to the host is what this strategy is. So does the one that the step returns, to the update: it is
computed where ops go that nobody placed, which is where the variables live.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)

strategy = tf.distribute.experimental.CentralStorageStrategy(["CPU:1", "CPU:2"], parameter_device="CPU:0")
with strategy.scope():
    w = tf.Variable(tf.random.normal((64, 32)))


def replica_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))  # expect: variable-home
    (grad,) = tape.gradient(loss, [w])  # may: variable-home
    grad = tf.distribute.get_replica_context().all_reduce("sum", grad)  # may: collective, reduce-on-host
    return loss, grad


@tf.function
def train_step(x, y):
    _, grads = strategy.run(replica_step, args=(x, y))  # may: variable-home, reduce-on-host
    return strategy.experimental_local_results(grads)[0]


x, y = tf.random.normal((16, 64)), tf.random.normal((16, 32))
dataset = tf.data.Dataset.from_tensors((x, y)).repeat(8)
for x, y in strategy.experimental_distribute_dataset(dataset):
    grad = train_step(x, y)
    w.assign_sub(0.01 * grad)  # may: default-device
