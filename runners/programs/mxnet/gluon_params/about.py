"""mx-gluon-params in the catalogue: its options, and the lesson that its runs teach."""

from __future__ import annotations

from pathlib import Path

from runners.program import Program, Variant
from runners.programs.options import PINNED, TRAINING

PROGRAM = Program(
    name="mx-gluon-params",
    framework="mxnet",
    title="Where a network's parameters live",
    summary="initialize(ctx=..), training on the data's context, saving, and loading across contexts",
    script=Path(__file__).with_name("train.py"),
    options=(*TRAINING, PINNED),
    min_devices=1,
    max_devices=None,
    default_devices=2,
    claim="Parameters, gradients and results stay on the context, and saved parameters load on any "
    "other. Testable on stand-ins.",
    variants=(Variant("default", steps=3),),
    advice=(
        "Give one context to net.initialize and to the data, and give it to load_parameters(file, ctx=ctx) "
        "too, whatever the parameters were saved from."
    ),
)
