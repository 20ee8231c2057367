"""mx-contexts in the catalogue: its options, and the lesson that its runs teach."""

from __future__ import annotations

from pathlib import Path

from runners.program import Program, Variant
from runners.programs.options import PINNED, SEED

PROGRAM = Program(
    name="mx-contexts",
    framework="mxnet",
    title="Contexts and missing GPUs",
    summary="cpu(), gpu(), gpu(i), num_gpus, try_gpu and try_all_gpus, and where arrays are made",
    script=Path(__file__).with_name("train.py"),
    options=(SEED, PINNED),
    min_devices=1,
    max_devices=None,
    default_devices=2,
    claim="gpu() is gpu(0), and a missing GPU falls back to cpu(). Testable on any machine, by asking "
    "for one GPU more than there is.",
    variants=(Variant("default", steps=3),),
    advice=(
        "Look at mx.context.num_gpus() before you name a GPU, as try_gpu does, and choose cpu() yourself "
        "where it is 0: MXNet raises an error for a missing GPU, it does not fall back."
    ),
)
