"""tf-no-kernel in the catalogue: its options, and the lesson that its runs teach."""

from __future__ import annotations

from pathlib import Path

from runners.program import Option, Program, Variant
from runners.programs.options import JIT_COMPILE, PINNED, TRAINING

PROGRAM = Program(
    name="tf-no-kernel",
    framework="tensorflow",
    title="Ops without a kernel",
    summary="An op that has no GPU kernel in the middle of a pinned network, and where it really runs",
    script=Path(__file__).with_name("train.py"),
    options=(
        *TRAINING,
        JIT_COMPILE,
        PINNED,
        Option(
            "op",
            "the op in the middle",
            "angle",
            ("angle", "unique", "string-to-number", "fractional-max-pool"),
            concerns=("no-kernel",),
        ),
        Option(
            "scope",
            "of the device, or of XLA's device of the host, which like a GPU lacks kernels",
            "device",
            ("device", "xla-cpu"),
        ),
    ),
    min_devices=1,
    max_devices=None,
    default_devices=2,
    claim="angle has no GPU kernel, and the gradient of a CPU-only op comes back to the host. The kernel "
    "table tells on any machine; what moves shows on a GPU, and with scope=xla-cpu on any machine: "
    "stand-ins have every kernel.",
    variants=(
        Variant("angle", {"op": "angle"}, steps=3),
        Variant("on-a-gpu", {"op": "fractional-max-pool"}, steps=3, devices=("gpu:0",), extra=True),
        Variant("xla-cpu", {"op": "fractional-max-pool", "scope": "xla-cpu"}, stand_ins=1, steps=3),
    ),
    advice=(
        "Call tf.config.set_soft_device_placement(False) once: an op without a GPU kernel then raises "
        "instead of moving to the host. Replace it, or move it to where its data already is."
    ),
)
