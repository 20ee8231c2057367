"""TensorFlow and Keras, from reading their sources."""

from __future__ import annotations

from app.facts.dialects.dialect import Dialect

_DISTRIBUTE = "tensorflow/python/distribute/"
_CHECKPOINT = "tensorflow/python/ops/resource_variable_ops.py:_read_variable_closure"
_KERAS = ("keras/", "tf_keras/")

DIALECT = Dialect(
    name="tensorflow",
    libraries=(
        (_DISTRIBUTE, "tf.distribute"),
        ("tensorflow/python/data/", "tf.data"),
        *((path, "Keras") for path in _KERAS),
        ("tensorflow/", "TensorFlow"),
    ),
    scopes=(
        (f"{_DISTRIBUTE}mirrored_run.py", "each replica's step runs on the replica's device"),
        (f"{_DISTRIBUTE}input_lib.py", "each replica gets its part of the batch on its device"),
        (f"{_DISTRIBUTE}cross_device_ops.py", "what the replicas made is brought together"),
        (f"{_DISTRIBUTE}cross_device_utils.py", "what the replicas made is brought together"),
        (f"{_DISTRIBUTE}collective_all_reduce_strategy.py", "what the workers made is brought together"),
        (f"{_DISTRIBUTE}values.py", "each replica reads and writes its own copy of a variable"),
        (
            f"{_DISTRIBUTE}mirrored_strategy.py",
            "each device's copy of a variable is made and updated there",
        ),
        (f"{_DISTRIBUTE}parameter_server_strategy", "variables are made on the parameter servers"),
        (_CHECKPOINT, "a checkpoint reads each variable where it lives, and saves it from the host"),
        ("tensorflow/python/checkpoint/", "checkpoints are written and read by the host"),
        ("tensorflow/python/training/saving/", "checkpoints are written and read by the host"),
        ("tensorflow/python/data/", "the input pipeline hands its elements to the device"),
    ),
    own_loops=_KERAS,
    one_call=("tensorflow/python/",),
    wrappers=frozenset(
        {"error_handler", "converted_call", "new_func", "wrapper", "op_dispatch_handler"},
    ),
    places_ops=True,
    counted_by_calls=("ops inside a session of TensorFlow 1",),
)
