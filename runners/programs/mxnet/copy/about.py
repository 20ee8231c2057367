"""mx-copy in the catalogue: its options, and the lesson that its runs teach."""

from __future__ import annotations

from pathlib import Path

from runners.program import Option, Program, Variant
from runners.programs.options import SEED

PROGRAM = Program(
    name="mx-copy",
    framework="mxnet",
    title="copyto and as_in_context",
    summary="Copies to another device and to the same one: which of them make a new array",
    script=Path(__file__).with_name("train.py"),
    options=(SEED, Option("size", "rows, and columns, of the matrices", 256, type="count")),
    min_devices=2,
    max_devices=2,
    default_devices=2,
    claim="copyto always makes a new array; as_in_context and as_in_ctx to the same device return the "
    "same array. Testable on stand-ins; copy times on GPUs only.",
    variants=(Variant("default", steps=3),),
    advice=(
        "Write x.as_in_context(ctx) before a computation: it copies only where it has to. Use x.copyto(ctx) "
        "for a copy that you will write into."
    ),
)
