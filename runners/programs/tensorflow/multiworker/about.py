"""tf-multiworker in the catalogue: its options, and the lesson that its runs teach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from runners.program import Option, Program, Value, Variant
from runners.programs.keras_versions import keras_problems
from runners.programs.options import JIT_COMPILE, KERAS, TIME_LIMIT, TRAINING, WORKERS
from runners.programs.tensorflow.clusters import ALL_WORKERS


def _keras_fit(name: str, devices: Sequence[str], options: Mapping[str, Value | None]) -> list[str]:
    """Where Keras fit can train on several workers."""
    if options.get("loop") != "fit":
        return []
    problems = []
    if options.get("keras") == "3":
        problems.append("loop=fit needs keras=2: Keras 3 cannot fit under MultiWorkerMirroredStrategy")
    if options.get("jit-compile") == "on" and any(device.startswith("cpu:") for device in devices):
        problems.append("jit-compile=on works with loop=fit on GPUs only; on CPU devices, with loop=custom")
    return problems


PROGRAM = Program(
    name="tf-multiworker",
    framework="tensorflow",
    title="Mirrored workers",
    summary="Data parallelism over processes: each worker has the model, gradients are summed each step",
    script=Path(__file__).with_name("train.py"),
    options=(
        *TRAINING,
        JIT_COMPILE,
        Option("loop", "a loop of one's own, or Keras fit, which takes keras=2", "custom", ("custom", "fit")),
        KERAS,
        Option(
            "communication",
            "who sums the gradients over the workers; nccl needs GPUs",
            "auto",
            ("auto", "ring", "nccl"),
        ),
        WORKERS,
        TIME_LIMIT,
    ),
    min_devices=1,
    max_devices=None,
    default_devices=1,
    needs=(keras_problems,),
    fits=(_keras_fit,),
    claim="All workers hold equal weights after each step, and the bytes that they exchange grow with "
    "their number. Testable on stand-ins; speed, and NCCL, on several GPUs only.",
    cluster=ALL_WORKERS,
    equal_shares=True,
    variants=(
        Variant("two-workers", {"workers": 2}, steps=3),
        Variant("three-workers", {"workers": 3}, steps=3),
    ),
    advice=(
        "Start every worker with the same script and its own TF_CONFIG, make MultiWorkerMirroredStrategy "
        "before any other call of TensorFlow, and make the batch larger with each worker."
    ),
)
