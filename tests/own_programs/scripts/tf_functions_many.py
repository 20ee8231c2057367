"""500 traced functions, their names, names of their ops, retracing warnings."""

# frameworks: tensorflow
import tensorflow as tf

total = tf.Variable(0.0)
names = []
for n in range(500):

    @tf.function
    def add(x):
        total.assign_add(x * 2.0)
        return total + 1.0

    add(tf.constant(float(n)))
    if n % 100 == 0:
        concrete = add.get_concrete_function(tf.TensorSpec((), tf.float32))
        names.append((concrete.name, [op.name for op in concrete.graph.get_operations()]))
print(total.numpy(), names)
retraced = tf.function(lambda x: x + 1)
for n in range(8):
    retraced(n)
