"""mx-mixed-context in the catalogue: its options, and the lesson that its runs teach."""

from __future__ import annotations

from pathlib import Path

from runners.program import Option, Program, Variant
from runners.programs.options import SEED

PROGRAM = Program(
    name="mx-mixed-context",
    framework="mxnet",
    title="Inputs on two contexts",
    summary="x + y with x and y on two contexts: refused for GPU and host, unnoticed for CPU contexts",
    script=Path(__file__).with_name("train.py"),
    options=(SEED, Option("size", "rows, and columns, of the matrices", 64, type="count")),
    min_devices=2,
    max_devices=2,
    default_devices=2,
    claim="It raises on GPUs: testable with a GPU and the host, --devices gpu:0,cpu:0. On CPU contexts "
    "it silently runs on the first input's: testable on stand-ins.",
    variants=(
        Variant("stand-ins", stand_ins=2, steps=3),
        Variant("gpu-and-host", devices=("gpu:0", "cpu:0"), steps=3, extra=True),
    ),
    advice=(
        "Bring both operands to one context with as_in_context before you combine them, and test on a GPU: "
        "CPU contexts do not tell you that you forgot."
    ),
)
