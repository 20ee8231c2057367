"""tf.data: generators, parallel maps, py_function, caches in files, iterators' states, shuffles."""

# frameworks: tensorflow
import numpy as np
import tensorflow as tf


def numbers():
    for n in range(20):
        yield n, np.full((2,), n, np.float32)


dataset = tf.data.Dataset.from_generator(
    numbers, output_signature=(tf.TensorSpec((), tf.int64), tf.TensorSpec((2,), tf.float32))
)
dataset = dataset.map(
    lambda n, x: (n, tf.py_function(lambda v: v * 2, [x], tf.float32)), num_parallel_calls=4
)
print([(int(n), x.numpy().tolist()) for n, x in dataset])
cached = (
    tf.data.Dataset.range(100).map(lambda x: x * 2, num_parallel_calls=tf.data.AUTOTUNE).batch(10).prefetch(2)
)
print(sum(batch.numpy().sum() for batch in cached))
iterator = iter(tf.data.Dataset.range(5))
next(iterator)
checkpoint = tf.train.Checkpoint(iterator=iterator)
path = checkpoint.save("/tmp/own-programs-checkpoint")
next(iterator)
checkpoint.restore(path)
print(next(iterator).numpy(), cached.element_spec, len(cached))
try:
    while True:
        next(iterator)
except StopIteration:
    print("over")
tf.data.Dataset.range(5).save("saved")
print(list(tf.data.Dataset.load("saved").as_numpy_iterator()))
import shutil

shutil.rmtree("saved")
