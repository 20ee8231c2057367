"""tf-pin-replica-gradients in the catalogue: its options, and the lesson that its runs teach."""

from __future__ import annotations

from pathlib import Path

from runners.program import Program, Variant
from runners.programs.fits import image_each
from runners.programs.options import JIT_COMPILE, TRAINING

PROGRAM = Program(
    name="tf-pin-replica-gradients",
    framework="tensorflow",
    title="A model and its gradients on each device",
    summary="A model, an optimizer and a gradient a device by hand, each on its own slice of the batch",
    script=Path(__file__).with_name("train.py"),
    options=(*TRAINING, JIT_COMPILE),
    min_devices=2,
    max_devices=None,
    default_devices=2,
    claim="Each replica's gradients stay on its device. Testable on stand-ins.",
    fits=(image_each,),
    variants=(Variant("default", steps=3),),
    advice=(
        "With a model a device made by hand, call each tape.gradient under its own tf.device; if they "
        "are to be one model, sum the gradients in every step, as tf.distribute.MirroredStrategy does."
    ),
)
