"""tf-central-storage in the catalogue: its options, and the lesson that its runs teach."""

from __future__ import annotations

from pathlib import Path

from runners.program import Program, Variant
from runners.programs.fits import image_each, one_kind
from runners.programs.options import JIT_COMPILE, TRAINING

PROGRAM = Program(
    name="tf-central-storage",
    framework="tensorflow",
    title="One copy of the weights on the host",
    summary="Data parallelism with CentralStorageStrategy: replicas read the host's weights each step",
    script=Path(__file__).with_name("train.py"),
    options=(*TRAINING, JIT_COMPILE),
    min_devices=1,
    max_devices=None,
    default_devices=2,
    claim="Variables live on the host: every step reads all of them from there to each device, and sends "
    "the gradients back. Testable on stand-ins; copy times on GPUs only.",
    fits=(one_kind, image_each),
    equal_shares=True,
    variants=(Variant("default", steps=3),),
    advice=(
        "Take CentralStorageStrategy only where the weights do not fit on each card: every step sends all of "
        "them from the host and the gradients back, where MirroredStrategy sends gradients alone."
    ),
)
