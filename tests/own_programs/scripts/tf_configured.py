"""Devices, threads, memory and soft placement configured after the import, logical devices cut, eager run."""

# frameworks: tensorflow
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)
tf.config.threading.set_inter_op_parallelism_threads(2)
tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.set_soft_device_placement(False)
tf.config.optimizer.set_jit(False)
print(tf.config.list_logical_devices(), tf.config.threading.get_inter_op_parallelism_threads())
try:
    with tf.device("GPU:3"):
        tf.ones(1)
except (RuntimeError, ValueError, tf.errors.InvalidArgumentError) as error:
    print(type(error).__name__, str(error)[:90])
with tf.device("CPU:2"):
    print(tf.ones(1).device)
tf.config.run_functions_eagerly(True)
print(
    tf.function(lambda x: x + 1)(tf.constant(1)).numpy(),
    tf.executing_eagerly(),
    tf.config.functions_run_eagerly(),
)
try:
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()])
except RuntimeError as error:
    print(error)
tf.debugging.set_log_device_placement(True)
tf.ones(2) + 1
