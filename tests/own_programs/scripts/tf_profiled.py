"""tf.profiler while functions run: one profile, no error, no foreign line."""

# frameworks: tensorflow
# ignored: profile
import glob

import tensorflow as tf


@tf.function
def step(x):
    return tf.reduce_sum(x * x)


for _ in range(200):
    step(tf.ones((50, 50)))
tf.profiler.experimental.start("profile")
for n in range(50):
    with tf.profiler.experimental.Trace("train", step_num=n, _r=1):
        step(tf.ones((50, 50)))
tf.profiler.experimental.stop()
print(len(glob.glob("profile/**/*.xplane.pb", recursive=True)))
