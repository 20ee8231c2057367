"""tf-host-sync in the catalogue: its options, and the lesson that its runs teach."""

from __future__ import annotations

from pathlib import Path

from runners.program import Option, Program, Variant
from runners.programs.options import JIT_COMPILE, NETWORK, PINNED, REPEATS, SEED

PROGRAM = Program(
    name="tf-host-sync",
    framework="tensorflow",
    title="The loss of each step",
    summary="loss.numpy() in every step, or in every n-th, against a metric kept on the device",
    script=Path(__file__).with_name("train.py"),
    options=(
        SEED,
        *NETWORK,
        JIT_COMPILE,
        PINNED,
        Option(
            "variant",
            "how the loss is followed; all: compare these ways",
            "all",
            ("all", "numpy", "every-n", "metric"),
            concerns=("host-sync",),
        ),
        Option(
            "every",
            "steps between two losses that every-n reads",
            10,
            type="count",
            concerns=("host-sync",),
        ),
        REPEATS,
    ),
    min_devices=1,
    max_devices=None,
    default_devices=1,
    claim="Reading the loss in every step stalls it. Testable on a GPU only: on a stand-in a call "
    "returns when it is done, and there is nothing left to wait for.",
    timed=True,
    variants=(Variant("all"),),
    advice=(
        "Keep the loss in a tf.keras.metrics.Mean that the step updates, and read result() every hundred "
        "steps or so; loss.numpy(), float(loss) and print(loss) all wait for the device."
    ),
)
