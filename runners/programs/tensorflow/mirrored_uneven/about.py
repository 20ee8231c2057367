"""tf-mirrored-uneven in the catalogue: its options, and the lesson that its runs teach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from runners.program import Option, Program, Value, Variant
from runners.programs.fits import one_kind
from runners.programs.helpers.shared.slices import cut
from runners.programs.options import JIT_COMPILE, NETWORK, REPEATS, SEED


def _uneven(name: str, devices: Sequence[str], options: Mapping[str, Value | None]) -> list[str]:
    """Both splits differ, and each leaves an image for each replica."""
    batch, slowdown, split = options.get("batch"), options.get("slowdown"), options.get("split")
    if not isinstance(batch, int) or not isinstance(slowdown, int):
        return []
    if slowdown == 1 and split == "both":
        return ["slowdown=1 makes both splits the same: give 2 or more, or choose one split"]
    for loads in ([1] * len(devices), [slowdown] * (len(devices) - 1) + [1]):
        if 0 in (shares := cut(batch, loads)):
            told = ", ".join(f"{images} for {name}" for images, name in zip(shares, devices, strict=True))
            return [f"batch={batch} leaves a replica without an image: {told}"]
    return []


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
    fits=(one_kind, _uneven),
    variants=(Variant("both"),),
    advice=(
        "Give replicas of unequal speed shares of the batch that fit their speeds, and divide the sum of "
        "the losses by the whole batch, so that each image counts the same."
    ),
)
