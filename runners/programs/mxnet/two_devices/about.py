"""mx-two-devices in the catalogue: its options, and the lesson that its runs teach."""

from __future__ import annotations

from pathlib import Path

from runners.program import Option, Program, Variant
from runners.programs.options import REPEATS, SEED

PROGRAM = Program(
    name="mx-two-devices",
    framework="mxnet",
    title="Two devices at once",
    summary="Two series of matrix products: at once on two devices, and in sequence on one",
    script=Path(__file__).with_name("train.py"),
    options=(
        SEED,
        Option("sizes", "rows, and columns, of the matrices", "256,512", type="counts"),
        REPEATS,
    ),
    min_devices=2,
    max_devices=2,
    default_devices=2,
    claim="Two devices are nearly twice as fast as one. Testable on two GPUs only: stand-ins share one "
    "processor.",
    default_steps=40,
    timed=True,
    variants=(Variant("default"),),
    advice=(
        "Enqueue the work of all devices before you wait for any of it: no asnumpy, print or wait_to_read "
        "in between."
    ),
)
