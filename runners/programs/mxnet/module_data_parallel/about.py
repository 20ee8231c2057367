"""mx-module-data-parallel in the catalogue: its options, and the lesson that its runs teach."""

from __future__ import annotations

from pathlib import Path

from runners.program import Option, Program, Variant
from runners.programs.fits import no_image_twice
from runners.programs.options import TRAINING

PROGRAM = Program(
    name="mx-module-data-parallel",
    framework="mxnet",
    title="A Module on several contexts",
    summary="Data parallelism: Module cuts each batch over its contexts, a kvstore sums the gradients",
    script=Path(__file__).with_name("train.py"),
    options=(
        *TRAINING,
        Option(
            "work-load-list",
            "shares of the batch, one a device (default: even ones)",
            None,
            type="counts",
        ),
        Option(
            "kvstore",
            "where gradients are summed: on the host, on the devices, or by nccl, which needs GPUs",
            "local",
            ("local", "device", "nccl"),
            concerns=("reduce-on-host",),
        ),
    ),
    min_devices=2,
    max_devices=None,
    default_devices=2,
    claim="A batch is cut evenly or by the work load list, and the result equals that of one device "
    "within rounding. Testable on stand-ins; copy times and NCCL on several GPUs only.",
    fits=(no_image_twice,),
    variants=(
        Variant("even", steps=3),
        Variant("weighted", {"work-load-list": "3,1"}, steps=3),
    ),
    advice=(
        "Give Module a list of contexts, and work_load_list where one of them is slower. The batch is cut, "
        "so multiply it by the number of contexts, or each of them has little to do."
    ),
)
