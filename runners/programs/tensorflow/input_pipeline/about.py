"""tf-input-pipeline in the catalogue: its options, and the lesson that its runs teach."""

from __future__ import annotations

from pathlib import Path

from runners.program import Option, Program, Variant
from runners.programs.options import JIT_COMPILE, NETWORK, PINNED, REPEATS, SEED

PROGRAM = Program(
    name="tf-input-pipeline",
    framework="tensorflow",
    title="Input pipelines",
    summary="numpy batches, tf.data, and tf.data with prefetch_to_device: uploads and stall",
    script=Path(__file__).with_name("train.py"),
    options=(
        SEED,
        *NETWORK,
        JIT_COMPILE,
        PINNED,
        Option(
            "pipeline",
            "how batches come to the device; all: compare these ways",
            "all",
            ("all", "numpy", "tf-data", "prefetch-to-device", "resident"),
            concerns=("host-upload",),
        ),
        REPEATS,
    ),
    min_devices=1,
    max_devices=None,
    default_devices=1,
    claim="prefetch_to_device takes the uploads out of the step, and their stall with them. Uploads are "
    "counted on stand-ins too; the stall shows on a GPU only.",
    timed=True,
    variants=(Variant("all"),),
    advice=(
        "Feed the model from tf.data and end the pipeline with "
        "apply(tf.data.experimental.prefetch_to_device(device)): the next batch is there when a step begins."
    ),
)
