"""mx-log-norm in the catalogue: its options, and the lesson that its runs teach."""

from __future__ import annotations

from pathlib import Path

from runners.program import Option, Program, Variant
from runners.programs.options import PINNED, REPEATS, SEED

PROGRAM = Program(
    name="mx-log-norm",
    framework="mxnet",
    title="Fetching each of many values",
    summary="1000 products of 100 x 100: tr(M M^T) fetched each time, or kept on the device",
    script=Path(__file__).with_name("train.py"),
    options=(
        SEED,
        PINNED,
        Option(
            "variant",
            "how the values are fetched; all: compare these ways",
            "all",
            ("all", "fetch-each", "asnumpy-log", "assign-log", "fetch-once"),
            concerns=("host-sync",),
        ),
        Option("size", "rows, and columns, of the matrices", 100, type="count"),
        REPEATS,
    ),
    min_devices=1,
    max_devices=None,
    default_devices=1,
    claim="Fetching each value stalls: keeping them on the device and fetching once is faster. Testable "
    "on stand-ins, where Python waits as well, but no bus is crossed.",
    default_steps=1000,
    timed=True,
    variants=(Variant("all"),),
    advice=(
        "Append the arrays to a list, join them with mx.nd.concat and fetch them once with asnumpy(): no "
        "asscalar() in the loop, and no log[i] = value, which is several operators for each number."
    ),
)
