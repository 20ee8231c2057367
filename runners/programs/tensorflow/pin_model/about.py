"""tf-pin-model in the catalogue: its options, and the lesson that its runs teach."""

from __future__ import annotations

from pathlib import Path

from runners.program import Option, Program, Variant
from runners.programs.keras_versions import keras_problems
from runners.programs.options import JIT_COMPILE, KERAS, PINNED, TRAINING

PROGRAM = Program(
    name="tf-pin-model",
    framework="tensorflow",
    title="A Keras model on one device",
    summary="A Keras model that is built and fitted inside tf.device of one chosen device",
    script=Path(__file__).with_name("train.py"),
    options=(
        *TRAINING,
        JIT_COMPILE,
        PINNED,
        Option("memory-growth", "on GPUs, take memory as needed or all at the start", "on", ("on", "off")),
        KERAS,
    ),
    min_devices=1,
    max_devices=None,
    default_devices=2,
    needs=(keras_problems,),
    claim="Variables, forward, backward and optimizer slots all live there; testable on stand-ins. "
    "Without memory growth TensorFlow takes the card; testable on a GPU only.",
    variants=(
        Variant("pinned", steps=3),
        Variant("all-memory", {"memory-growth": "off"}, steps=3, devices=("gpu:0",), extra=True),
    ),
    advice=(
        "Build the model inside tf.device, not only fit it there: a variable stays where it was made. On a "
        "GPU that you share, call tf.config.experimental.set_memory_growth(gpu, True) before anything else."
    ),
)
