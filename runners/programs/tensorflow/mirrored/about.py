"""tf-mirrored in the catalogue: its options, and the lesson that its runs teach."""

from __future__ import annotations

from pathlib import Path

from runners.program import Option, Program, Variant
from runners.programs.options import JIT_COMPILE, TRAINING

PROGRAM = Program(
    name="tf-mirrored",
    framework="tensorflow",
    title="Mirrored replicas",
    summary="Data parallelism: each device has a copy of the model, gradients are summed each step",
    script=Path(__file__).with_name("train.py"),
    options=(
        *TRAINING,
        JIT_COMPILE,
        Option("loop", "train with Keras fit or with a loop of one's own", "fit", ("fit", "custom")),
        Option(
            "cross-device-ops",
            "how gradients are summed over the devices; nccl needs GPUs",
            "default",
            ("default", "nccl", "hierarchical-copy", "reduction-to-one-device"),
        ),
    ),
    min_devices=1,
    max_devices=None,
    default_devices=2,
    claim="Placement is automatic, and gradients are summed each step: bytes depend on the algorithm. "
    "Testable on stand-ins; copy times and NCCL on several GPUs only.",
    variants=(
        Variant("default", {"loop": "custom"}, steps=3),
        Variant("one-device", {"loop": "custom", "cross-device-ops": "reduction-to-one-device"}, steps=3),
        Variant("hierarchical", {"loop": "custom", "cross-device-ops": "hierarchical-copy"}, steps=3),
        Variant("nccl", {"loop": "custom", "cross-device-ops": "nccl"}, steps=3, extra=True),
    ),
    advice=(
        "Make the model and the optimizer inside strategy.scope() and leave placement to the strategy; with "
        "linked GPUs pass cross_device_ops=tf.distribute.NcclAllReduce()."
    ),
)
