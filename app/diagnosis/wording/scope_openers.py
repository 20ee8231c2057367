"""Device scopes that a library opened by itself: whose they are, and what for."""

from __future__ import annotations

_DISTRIBUTE = "tensorflow/python/distribute/"
_CHECKPOINT = "tensorflow/python/ops/resource_variable_ops.py:_read_variable_closure"
_PURPOSES = (
    (f"{_DISTRIBUTE}mirrored_run.py", "each replica's step runs on the replica's device"),
    (f"{_DISTRIBUTE}input_lib.py", "each replica gets its part of the batch on its device"),
    (f"{_DISTRIBUTE}cross_device_ops.py", "what the replicas made is brought together"),
    (f"{_DISTRIBUTE}cross_device_utils.py", "what the replicas made is brought together"),
    (f"{_DISTRIBUTE}collective_all_reduce_strategy.py", "what the workers made is brought together"),
    (f"{_DISTRIBUTE}values.py", "each replica reads and writes its own copy of a variable"),
    (f"{_DISTRIBUTE}mirrored_strategy.py", "each device's copy of a variable is made and updated there"),
    (f"{_DISTRIBUTE}parameter_server_strategy", "variables are made on the parameter servers"),
    (_CHECKPOINT, "a checkpoint reads each variable where it lives, and saves it from the host"),
    ("tensorflow/python/checkpoint/", "checkpoints are written and read by the host"),
    ("tensorflow/python/training/saving/", "checkpoints are written and read by the host"),
    ("tensorflow/python/data/", "the input pipeline hands its elements to the device"),
)
"""Where a scope's function stands -> what the scope is for, from reading TensorFlow's sources."""
_NAMES = (
    (_DISTRIBUTE, "tf.distribute"),
    ("tensorflow/python/data/", "tf.data"),
    ("keras/", "Keras"),
    ("tf_keras/", "Keras"),
    ("tensorflow/", "TensorFlow"),
)


def library(opener: str) -> str:
    """The library whose function opened a scope: ``tf.distribute``; its package where that has no name."""
    for path, name in _NAMES:
        if opener.startswith(path):
            return name
    return opener.partition("/")[0].partition(".py")[0]


def purpose(opener: str) -> str:
    """``tf.distribute's own scope: each replica's step runs on the replica's device``."""
    what = next((what for path, what in _PURPOSES if opener.startswith(path)), "")
    name = library(opener)
    owns = "'" if name.endswith("s") else "'s"
    return f"{name}{owns} own scope" + (f": {what}" if what else "")
