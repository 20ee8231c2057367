"""What TensorFlow's Python makes of a list of visible GPUs, and what the program says of TensorFlow's answer.

There are no GPUs here: the list of physical ones, and the runtime's answer, are made up. What TensorFlow
hands to its runtime is its own.
"""

import json

import tensorflow as tf
from tensorflow.python import pywrap_tfe
from tensorflow.python.client import device_lib
from tensorflow.python.eager import context
from train import say_order

found = pywrap_tfe.TF_ListPhysicalDevices()
pywrap_tfe.TF_ListPhysicalDevices = lambda: [*found, *(b"/physical_device:GPU:%d" % n for n in range(3))]
gpus = tf.config.list_physical_devices("GPU")
tf.config.set_visible_devices([gpus[2], gpus[0]], "GPU")
print(json.dumps(context.context().config.gpu_options.visible_device_list))
Attributes = type(device_lib.list_local_devices()[0])
for numbers in ([0, 2], [2, 0], [0, 1], []):
    answer = [
        Attributes(
            name=f"/device:GPU:{place}", device_type="GPU", physical_device_desc=f"device: {number}, name: X"
        )
        for place, number in enumerate(numbers)
    ]
    device_lib.list_local_devices = lambda config, answer=answer: answer
    say_order(["gpu:2", "gpu:0"])
say_order(["gpu:0"])
