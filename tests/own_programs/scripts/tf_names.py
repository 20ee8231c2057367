"""Names of ops, variables, graphs' uids, layers and devices: the recorder must not take part in counting."""

# frameworks: tensorflow
# quick: tensorflow
import tensorflow as tf


@tf.function
def f(x):
    with tf.name_scope("outer"):
        y = tf.add(x, 1)
        return tf.add(y, 1)


concrete = f.get_concrete_function(tf.TensorSpec((), tf.float32))
print(concrete.name, [op.name for op in concrete.graph.get_operations()])
for _ in range(20):
    f(tf.constant(1.0)).numpy()
second = f.get_concrete_function(tf.TensorSpec((2,), tf.float32))
print(second.name, tf.Variable(1.0).name, tf.Variable(2.0, name="named").name)
with tf.Graph().as_default() as graph:
    tf.constant(1) + tf.constant(2)
    tf.compat.v1.get_variable("v", (2,))
    print([op.name for op in graph.get_operations()], graph.as_graph_def().ByteSize())
print([device.name for device in tf.config.list_logical_devices()], tf.ones(1).device)
