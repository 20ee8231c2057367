"""tf-mirrored in the catalogue: its options, and the lesson that its runs teach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from runners.program import Option, Program, Value, Variant
from runners.programs.fits import image_each, one_kind
from runners.programs.options import JIT_COMPILE, TRAINING


def _replicas(name: str, devices: Sequence[str], options: Mapping[str, Value | None]) -> list[str]:
    """What keeps MirroredStrategy from working with these devices."""
    problems = []
    count, shown = len(devices), ", ".join(devices)
    kinds = {name.partition(":")[0] for name in devices}
    algorithm = options["cross-device-ops"]
    if algorithm == "nccl" and kinds != {"gpu"}:
        problems.append(
            f"cross-device-ops=nccl needs GPUs: NCCL has no kernel for CPU devices, which {shown} are"
        )
    if algorithm == "hierarchical-copy" and count % 2:
        problems.append(f"cross-device-ops=hierarchical-copy needs an even number of devices, not {count}")
    if options.get("loop") == "fit" and options.get("jit-compile") == "on" and kinds != {"gpu"}:
        problems.append("jit-compile=on works with loop=fit on GPUs only; on CPU devices, with loop=custom")
    return problems


PROGRAM = Program(
    name="tf-mirrored",
    framework="tensorflow",
    title="Mirrored replicas",
    summary="Data parallelism: each device has a copy of the model, gradients are summed each step",
    script=Path(__file__).with_name("train.py"),
    options=(
        *TRAINING,
        JIT_COMPILE,
        Option("loop", "train with Keras fit or with a loop of one's own", "fit", ("fit", "custom")),
        Option(
            "cross-device-ops",
            "how gradients are summed over the devices; nccl needs GPUs",
            "default",
            ("default", "nccl", "hierarchical-copy", "reduction-to-one-device"),
        ),
    ),
    min_devices=1,
    max_devices=None,
    default_devices=2,
    claim="Placement is automatic, and gradients are summed each step: bytes depend on the algorithm. "
    "Testable on stand-ins; copy times and NCCL on several GPUs only.",
    fits=(one_kind, _replicas, image_each),
    equal_shares=True,
    variants=(
        Variant("default", {"loop": "custom"}, steps=3),
        Variant("one-device", {"loop": "custom", "cross-device-ops": "reduction-to-one-device"}, steps=3),
        Variant("hierarchical", {"loop": "custom", "cross-device-ops": "hierarchical-copy"}, steps=3),
        Variant("nccl", {"loop": "custom", "cross-device-ops": "nccl"}, steps=3, extra=True),
    ),
    advice=(
        "Make the model and the optimizer inside strategy.scope() and leave placement to the strategy; with "
        "linked GPUs pass cross_device_ops=tf.distribute.NcclAllReduce()."
    ),
)
