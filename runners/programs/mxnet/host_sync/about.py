"""mx-host-sync in the catalogue: its options, and the lesson that its runs teach."""

from __future__ import annotations

from pathlib import Path

from runners.program import Option, Program, Variant
from runners.programs.options import NETWORK, PINNED, REPEATS, SEED

PROGRAM = Program(
    name="mx-host-sync",
    framework="mxnet",
    title="The loss of each minibatch",
    summary="asscalar() or asnumpy() in every step, against losses kept on the device",
    script=Path(__file__).with_name("train.py"),
    options=(
        SEED,
        *NETWORK,
        PINNED,
        Option(
            "variant",
            "how the loss is fetched; all: compare these ways",
            "all",
            ("all", "asscalar", "asnumpy", "log"),
            concerns=("host-sync",),
        ),
        REPEATS,
    ),
    min_devices=1,
    max_devices=None,
    default_devices=1,
    claim="Fetching the loss in every step stalls it, by waiting and by copying, and the GIL makes every "
    "Python thread wait. Testable on stand-ins, where the copy crosses no bus.",
    timed=True,
    variants=(Variant("all"),),
    advice=(
        "Append the loss arrays to a list and fetch them together, every hundred steps or at the end. What "
        "must look at each loss can do so in a thread: MXNet lets go of the GIL while it waits."
    ),
)
