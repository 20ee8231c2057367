"""tf-model-parallel in the catalogue: its options, and the lesson that its runs teach."""

from __future__ import annotations

from pathlib import Path

from runners.program import Option, Program, Variant
from runners.programs.options import JIT_COMPILE, TRAINING

PROGRAM = Program(
    name="tf-model-parallel",
    framework="tensorflow",
    title="Layers over devices",
    summary="Model parallelism: the layers of one network are split over devices with tf.device",
    script=Path(__file__).with_name("train.py"),
    options=(
        *TRAINING,
        JIT_COMPILE,
        Option("layers", "dense layers of the network", 6, type="count"),
        Option(
            "split",
            "layers, from 0, at which the next device takes over (default: even shares)",
            None,
            type="counts",
        ),
    ),
    min_devices=2,
    max_devices=None,
    default_devices=3,
    claim="Activations cross forward and gradients cross back, between neighbouring devices only. "
    "Testable on stand-ins; copy times on several GPUs only.",
    variants=(Variant("even", steps=3),),
    advice=(
        "Cut the model where the tensor between two layers is small, and give neighbouring layers to "
        "devices that have a direct link: what crosses there crosses twice in each step."
    ),
)
