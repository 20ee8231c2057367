"""mx-context-scope in the catalogue: its options, and the lesson that its runs teach."""

from __future__ import annotations

from pathlib import Path

from runners.program import Program, Variant
from runners.programs.options import PINNED, SEED

PROGRAM = Program(
    name="mx-context-scope",
    framework="mxnet",
    title="The current context",
    summary="with mx.gpu(i) against a bare mx.gpu(i), and against ctx=",
    script=Path(__file__).with_name("train.py"),
    options=(SEED, PINNED),
    min_devices=1,
    max_devices=None,
    default_devices=2,
    claim="Only the with-block, or ctx=, puts an array elsewhere than on cpu(0); naming a context does "
    "nothing by itself. Testable on stand-ins.",
    variants=(Variant("default", steps=3),),
    advice=(
        "Give ctx= to whatever makes an array, or make it inside `with mx.gpu(i):`; a line that only says "
        "mx.gpu(i) does nothing."
    ),
)
