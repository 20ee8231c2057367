"""mx-gluon-data-parallel in the catalogue: its options, and the lesson that its runs teach."""

from __future__ import annotations

from pathlib import Path

from runners.program import Option, Program, Variant
from runners.programs.options import TRAINING

PROGRAM = Program(
    name="mx-gluon-data-parallel",
    framework="mxnet",
    title="Gluon on several contexts",
    summary="Data parallelism: split_and_load cuts each batch, a Trainer exchanges the gradients, or not",
    script=Path(__file__).with_name("train.py"),
    options=(
        *TRAINING,
        Option(
            "kvstore",
            "where gradients are summed: on the host, on the devices, or nowhere",
            "local",
            ("local", "device", "none"),
            concerns=("reduce-on-host", "replica-drift"),
        ),
    ),
    min_devices=2,
    max_devices=None,
    default_devices=2,
    claim="local sums on the host, device on the devices, and none lets the copies drift: testable on "
    "stand-ins. That device may use more memory there: on GPUs only.",
    variants=(
        Variant("local", {"kvstore": "local"}, steps=3),
        Variant("device", {"kvstore": "device"}, steps=3),
        Variant("none", {"kvstore": "none"}, steps=3),
    ),
    advice=(
        "Give the Trainer kvstore='device' where GPUs have links to each other, 'local' where their memory "
        "is short, and never None with more than one context."
    ),
)
