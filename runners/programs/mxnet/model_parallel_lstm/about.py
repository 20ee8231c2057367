"""mx-model-parallel-lstm in the catalogue: its options, and the lesson that its runs teach."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from runners.program import Option, Program, Variant
from runners.programs.options import TRAINING

_NARROW = tuple(
    dataclasses.replace(option, default=64) if option.name == "width" else option for option in TRAINING
)

PROGRAM = Program(
    name="mx-model-parallel-lstm",
    framework="mxnet",
    title="LSTM layers over devices",
    summary="Model parallelism: an LSTM's layers are split over devices with ctx_group and group2ctx",
    script=Path(__file__).with_name("train.py"),
    options=(
        *_NARROW,
        Option("layers", "LSTM layers of the network", 4, type="count"),
        Option(
            "split",
            "layers, from 0, at which the next device takes over (default: even shares)",
            None,
            type="counts",
        ),
        Option(
            "boundary",
            "what hands a layer's output to the next device: an identity op beside it, or the layer",
            "identity",
            ("identity", "direct"),
        ),
    ),
    min_devices=2,
    max_devices=None,
    default_devices=2,
    claim="Only what passes from layer to layer crosses, each time step, and its gradients: with "
    "boundary=direct parts of gradients do too. Testable on stand-ins; copy times on GPUs only.",
    variants=(
        Variant("identity", {"boundary": "identity"}, steps=3),
        Variant("direct", {"boundary": "direct"}, steps=3),
    ),
    advice=(
        "Let an mx.sym.identity at the end of a ctx_group, in that group, be all that hands its outputs on: "
        "then only these tensors and their gradients cross, and no parts of gradients."
    ),
)
