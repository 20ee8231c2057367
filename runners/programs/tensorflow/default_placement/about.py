"""tf-default-placement in the catalogue: its options, and the lesson that its runs teach."""

from __future__ import annotations

from pathlib import Path

from runners.program import Option, Program, Variant
from runners.programs.fits import at_most_all, one_kind
from runners.programs.options import JIT_COMPILE, TRAINING

PROGRAM = Program(
    name="tf-default-placement",
    framework="tensorflow",
    title="No device named",
    summary="A Keras model trained without naming any device: where its ops land",
    script=Path(__file__).with_name("train.py"),
    options=(
        *TRAINING,
        JIT_COMPILE,
        Option(
            "visible",
            "how many of the devices, the first ones, TensorFlow may see (default: all)",
            None,
            type="count",
        ),
    ),
    min_devices=1,
    max_devices=None,
    default_devices=2,
    claim="TensorFlow spreads operations over the GPUs by default. Testable on two GPUs. On stand-ins "
    "the default device is the host: that nothing is spread over them says little of GPUs.",
    fits=(one_kind, at_most_all("visible")),
    variants=(Variant("default", steps=3),),
    advice=(
        "Do not expect a second GPU to be used because it is there: name it with tf.device, or use a "
        "tf.distribute strategy, and hide the GPUs that a program does not need."
    ),
)
