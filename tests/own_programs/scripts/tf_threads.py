"""Eager ops, tapes and functions in threads; exceptions in strategy's threads; threads alive at the end."""

# frameworks: tensorflow
import threading

import tensorflow as tf

results = {}


@tf.function
def shared(x):
    return x * x


def work(n):
    v = tf.Variable(float(n))
    for _ in range(200):
        with tf.GradientTape() as tape:
            y = shared(v) + v
        v.assign_sub(0.01 * tape.gradient(y, v))
    results[n] = round(float(v), 5)


threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sorted(results.items()))


def fails():
    shared(tf.constant("text"))


thread = threading.Thread(target=fails)
thread.start()
thread.join()
