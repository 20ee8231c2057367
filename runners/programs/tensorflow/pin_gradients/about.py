"""tf-pin-gradients in the catalogue: its options, and the lesson that its runs teach."""

from __future__ import annotations

from pathlib import Path

from runners.program import Option, Program, Variant
from runners.programs.options import JIT_COMPILE, PINNED, TRAINING

PROGRAM = Program(
    name="tf-pin-gradients",
    framework="tensorflow",
    title="Gradients in and out of the scope",
    summary="One pinned model, a custom loop, and tape.gradient called inside or outside of tf.device",
    script=Path(__file__).with_name("train.py"),
    options=(
        *TRAINING,
        JIT_COMPILE,
        PINNED,
        Option(
            "gradients",
            "where tape.gradient is called",
            "outside",
            ("outside", "inside"),
            concerns=("gradient-outside-scope",),
        ),
    ),
    min_devices=1,
    max_devices=None,
    default_devices=2,
    claim="Without the scope the gradients run elsewhere: on the default device. Testable on stand-ins, "
    "where the default device is the host, and on two GPUs, where it is gpu:0.",
    variants=(
        Variant("outside", {"gradients": "outside"}, steps=3),
        Variant("inside", {"gradients": "inside"}, steps=3),
    ),
    advice=(
        "Call tape.gradient and optimizer.apply_gradients inside the same tf.device as the forward pass."
    ),
)
