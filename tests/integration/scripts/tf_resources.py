"""Functions whose placed graphs say less than their traced ones: of handles, of shapes that were set."""

import sys

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)

with tf.device("CPU:2"):
    table, other = tf.Variable(tf.zeros([128, 64])), tf.Variable(tf.zeros([128, 64]))
x, rows = tf.random.normal([16, 64]), tf.range(16)
words = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(tf.range(16), tf.range(16)), -1)
batches = iter(tf.data.Dataset.from_tensors(x).repeat())


def far(tensor):
    with tf.device("CPU:1"):
        return tf.reduce_sum(tensor * 2.0)


@tf.function
def rows_updated(x, rows):
    table.scatter_nd_update(rows[:, None], x)
    return far(table)


@tf.function
def rows_updated_in_loop(x, rows):
    for _ in tf.range(3):
        table.scatter_nd_add(rows[:, None], x)
    return far(table)


@tf.function
def rows_gathered(rows):
    return far(table.gather_nd(rows[:, None]))


@tf.function
def slice_assigned(x):
    table[3:19].assign(x)
    return far(table)


@tf.function
def one_of_two(x, rows):
    handle = tf.cond(tf.reduce_sum(x) > 0.0, lambda: table.handle, lambda: other.handle)
    tf.raw_ops.ResourceScatterNdUpdate(ref=handle, indices=rows[:, None], updates=x)
    return far(tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32))


@tf.function
def listed(x):
    array = tf.TensorArray(tf.float32, 4)
    for at in tf.range(4):
        array = array.write(at, x)
    return far(array.stack())


@tf.function
def looked_up(rows):
    return far(tf.cast(words.lookup(rows), tf.float32))


@tf.function
def maybe(x):
    found = batches.get_next_as_optional()
    return far(found.get_value() if found.has_value() else x)


@tf.function
def of_python(x):
    doubled = tf.py_function(lambda one: one * 2, [x], tf.float32)
    doubled.set_shape([16, 64])
    return far(doubled)


@tf.function
def called_inside(x, rows):
    rows_updated(x, rows)
    return far(other)


@tf.function
def unread(x):
    return far(x)


[graphs] = [module for name, module in sys.modules.items() if name.endswith(".tf.function_graphs")]
read_placed = graphs.read_placed


def refuses_one(recording, graph, owner, *args, **named):
    if "unread" in owner:
        raise ValueError("an op with _XlaHasReferenceVars=false")
    return read_placed(recording, graph, owner, *args, **named)


graphs.read_placed = refuses_one
for _ in range(5):
    rows_updated(x, rows)
    rows_updated_in_loop(x, rows)
    rows_gathered(rows)
    slice_assigned(x)
    one_of_two(x, rows)
    listed(x)
    looked_up(rows)
    maybe(x)
    of_python(x)
    called_inside(x, rows)
    unread(x)
