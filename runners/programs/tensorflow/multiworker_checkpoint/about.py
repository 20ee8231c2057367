"""tf-multiworker-checkpoint in the catalogue: its options, and the lesson that its runs teach."""

from __future__ import annotations

from pathlib import Path

from runners.program import Checkpoints, Option, Program, Variant
from runners.programs.options import JIT_COMPILE, TIME_LIMIT, TRAINING, WORKERS
from runners.programs.tensorflow.clusters import ALL_WORKERS

PROGRAM = Program(
    name="tf-multiworker-checkpoint",
    framework="tensorflow",
    title="Workers with checkpoints",
    summary="Mirrored workers that save a checkpoint every epoch, can be killed, and be resumed",
    script=Path(__file__).with_name("train.py"),
    options=(
        *TRAINING,
        JIT_COMPILE,
        Option(
            "checkpoint-every",
            "steps from one checkpoint to the next (default: an epoch)",
            None,
            type="count",
        ),
        WORKERS,
        TIME_LIMIT,
    ),
    min_devices=1,
    max_devices=None,
    default_devices=1,
    claim="A run resumes from its last checkpoint with the same loss, and only the chief's checkpoints "
    "are kept. Testable on stand-ins, by resuming a run.",
    cluster=ALL_WORKERS,
    checkpoints=Checkpoints(
        files=("checkpoint", "step-*", "losses.csv"),
        whole="step-*.index",
        same=("batch", "data", "jit-compile", "seed", "width"),
    ),
    equal_shares=True,
    variants=(
        Variant("first", {"checkpoint-every": 4, "log-every": 1}, steps=6),
        Variant("resumed", {"checkpoint-every": 4, "log-every": 1}, steps=8, resumes="first"),
    ),
    advice=(
        "Let all workers call save, the chief into the folder that counts and the others into one that they "
        "delete, and save the step's number too, so that a resumed run takes the images that come next."
    ),
)
