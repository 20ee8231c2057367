"""tf-mirrored-uneven in the catalogue: its options, and the lesson that its runs teach."""

from __future__ import annotations

from pathlib import Path

from runners.program import Option, Program, Variant
from runners.programs.options import JIT_COMPILE, NETWORK, REPEATS, SEED

PROGRAM = Program(
    name="tf-mirrored-uneven",
    framework="tensorflow",
    title="Replicas of unequal speed",
    summary="Mirrored replicas, one of them slow, with equal shares of the batch and with weighted ones",
    script=Path(__file__).with_name("train.py"),
    options=(
        *NETWORK,
        SEED,
        JIT_COMPILE,
        Option(
            "split",
            "shares of the batch: equal, weighted by speed, or both to compare",
            "both",
            ("both", "equal", "weighted"),
        ),
        Option(
            "slowdown",
            "injected: how many times as long the last device takes for an image",
            3,
            type="count",
        ),
        Option(
            "pause-us",
            "injected: microseconds that a replica sleeps for each image",
            300,
            type="count",
        ),
        REPEATS,
    ),
    min_devices=2,
    max_devices=None,
    default_devices=2,
    claim="A step waits for the slowest replica, and a split weighted by speed removes the wait. The "
    "unequal speed is injected, as pauses that take no core, so it is testable on stand-ins too.",
    default_steps=20,
    timed=True,
    variants=(Variant("both"),),
    advice=(
        "Give replicas of unequal speed shares of the batch that fit their speeds, and divide the sum of "
        "the losses by the whole batch, so that each image counts the same."
    ),
)
