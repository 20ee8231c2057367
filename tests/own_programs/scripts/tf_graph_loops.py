"""while, cond, map and scan in functions, printed from inside by tf.print, summed in datasets."""

# frameworks: tensorflow
# variables: TF_CPP_MIN_LOG_LEVEL=2
import sys

import tensorflow as tf


@tf.function
def collatz(n):
    steps = tf.constant(0)
    while n > 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    tf.print("steps", steps, output_stream=sys.stdout)
    return steps


print([int(collatz(tf.constant(n))) for n in range(1, 40)])


@tf.function
def over(dataset):
    total = tf.constant(0, tf.int64)
    for x in dataset:
        if x > 10:
            total += x
    return total


print(over(tf.data.Dataset.range(30)).numpy(), tf.map_fn(lambda x: x * x, tf.range(5)).numpy())
for _ in range(100):
    over(tf.data.Dataset.range(3))
