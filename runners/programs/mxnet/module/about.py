"""mx-module in the catalogue: its options, and the lesson that its runs teach."""

from __future__ import annotations

from pathlib import Path

from runners.program import Program, Variant
from runners.programs.fits import no_image_twice
from runners.programs.options import PINNED, TRAINING

PROGRAM = Program(
    name="mx-module",
    framework="mxnet",
    title="The Module API on one context",
    summary="Symbol, Module(context=..), bind, init_params and fit on one chosen device",
    script=Path(__file__).with_name("train.py"),
    options=(*TRAINING, PINNED),
    min_devices=1,
    max_devices=None,
    default_devices=2,
    claim="Arguments, gradients and outputs are all on that one context; the batches go there, and fit's "
    "metric reads the outputs in every step. Testable on stand-ins.",
    fits=(no_image_twice,),
    variants=(Variant("default", steps=3),),
    advice=(
        "Name the device once, in Module(context=..): bind, init_params and fit follow it. fit's metric "
        "reads the outputs in every step; a loop of your own may call update_metric now and then only."
    ),
)
