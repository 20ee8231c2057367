"""tf.debugging's own op callbacks: check numerics, dumped debug info, tf.print, assertions."""

# frameworks: tensorflow
import glob
import sys
import traceback

import tensorflow as tf

tf.debugging.enable_check_numerics()
try:
    tf.math.log(tf.constant([-1.0])) / 0.0
except tf.errors.InvalidArgumentError:
    traceback.print_exc()
try:
    tf.function(lambda x: tf.math.log(x))(tf.constant(-1.0))
except tf.errors.InvalidArgumentError:
    traceback.print_exc()
tf.debugging.disable_check_numerics()
tf.debugging.experimental.enable_dump_debug_info("dumped", tensor_debug_mode="FULL_HEALTH")
tf.ones(2) + 1
tf.function(lambda x: x * 2)(tf.ones(2))
tf.debugging.experimental.disable_dump_debug_info()
print(len(glob.glob("dumped/*")) > 3)
import shutil

shutil.rmtree("dumped")
tf.print("printed", tf.ones(2), output_stream=sys.stdout)
tf.debugging.assert_near(1.0, 2.0)
