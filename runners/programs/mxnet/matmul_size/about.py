"""mx-matmul-size in the catalogue: its options, and the lesson that its runs teach."""

from __future__ import annotations

from pathlib import Path

from runners.program import Option, Program, Variant
from runners.programs.options import PINNED, REPEATS, SEED

PROGRAM = Program(
    name="mx-matmul-size",
    framework="mxnet",
    title="Small and large products",
    summary="Matrix products of several sizes, on the host and on a device",
    script=Path(__file__).with_name("train.py"),
    options=(
        SEED,
        PINNED,
        Option("sizes", "rows, and columns, of the matrices", "64,256,1024", type="counts", least=2),
        REPEATS,
    ),
    min_devices=1,
    max_devices=None,
    default_devices=1,
    claim="The device wins on large work, not on small. Testable on a GPU only: a stand-in is the host's "
    "own processor.",
    default_steps=10,
    timed=True,
    beside_host=True,
    variants=(Variant("default"),),
    advice=(
        "Leave small products on the host, or make one large product of many with nd.batch_dot: a GPU wins "
        "only where its work takes longer than handing it over, some ten microseconds an operator."
    ),
)
