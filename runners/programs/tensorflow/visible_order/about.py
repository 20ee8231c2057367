"""tf-visible-order in the catalogue: its options, and the lesson that its runs teach."""

from __future__ import annotations

from pathlib import Path

from runners.program import Option, Program, Variant
from runners.programs.fits import at_most_all, one_kind
from runners.programs.options import JIT_COMPILE, TRAINING

PROGRAM = Program(
    name="tf-visible-order",
    framework="tensorflow",
    title="Which card gpu:0 is",
    summary="A model on gpu:0, with visible devices named in another order, to TensorFlow or to CUDA",
    script=Path(__file__).with_name("train.py"),
    options=(
        *TRAINING,
        JIT_COMPILE,
        Option("order", "the order in which the devices are named", "backwards", ("backwards", "forwards")),
        Option(
            "subset",
            "how many devices to keep, the first ones in that order (default: all)",
            None,
            type="count",
        ),
        Option(
            "by",
            "who is told of subset and order",
            "set-visible-devices",
            ("set-visible-devices", "cuda-visible-devices"),
        ),
        Option(
            "cuda-device-order",
            "CUDA's own count of the cards; it decides where no UUIDs are named",
            "unchanged",
            ("unchanged", "fastest-first", "pci-bus-id"),
        ),
    ),
    min_devices=1,
    max_devices=None,
    default_devices=2,
    claim="set_visible_devices ignores the order of its list, and only CUDA_VISIBLE_DEVICES changes "
    "which card gpu:0 is. Testable on two GPUs: stand-ins are parts of one physical device.",
    fits=(one_kind, at_most_all("subset")),
    variants=(
        Variant("set-visible-devices", {"by": "set-visible-devices"}, steps=3),
        Variant("cuda-visible-devices", {"by": "cuda-visible-devices"}, steps=3),
    ),
    advice=(
        "To choose which card gpu:0 is, set CUDA_VISIBLE_DEVICES, best to UUIDs, before TensorFlow is "
        "imported; tf.config.set_visible_devices only hides cards."
    ),
)
