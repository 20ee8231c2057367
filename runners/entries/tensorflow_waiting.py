"""The TensorFlow programs about kernels that are missing, and about what Python and the devices wait for."""

from __future__ import annotations

from runners.entries.options import JIT_COMPILE, NETWORK, PINNED, REPEATS, SEED, TRAINING
from runners.program import FOLDER, Option, Program

_TIMED = (SEED, *NETWORK, JIT_COMPILE, PINNED)

PROGRAMS = (
    Program(
        name="tf-no-kernel",
        framework="tensorflow",
        title="Ops without a kernel",
        summary="An op that has no GPU kernel in the middle of a pinned network, and where it really runs",
        script=FOLDER / "tensorflow" / "no_kernel" / "train.py",
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
    ),
    Program(
        name="tf-host-sync",
        framework="tensorflow",
        title="The loss of each step",
        summary="loss.numpy() in every step, or in every n-th, against a metric kept on the device",
        script=FOLDER / "tensorflow" / "host_sync" / "train.py",
        options=(
            *_TIMED,
            Option(
                "variant",
                "how the loss is followed; all: compare these ways",
                "all",
                ("all", "numpy", "every-n", "metric"),
                concerns=("host-sync",),
            ),
            Option(
                "every",
                "steps between two losses that every-n reads",
                10,
                type="count",
                concerns=("host-sync",),
            ),
            REPEATS,
        ),
        min_devices=1,
        max_devices=None,
        default_devices=1,
        claim="Reading the loss in every step stalls it. Testable on a GPU only: on a stand-in a call "
        "returns when it is done, and there is nothing left to wait for.",
        timed=True,
    ),
    Program(
        name="tf-input-pipeline",
        framework="tensorflow",
        title="Input pipelines",
        summary="numpy batches, tf.data, and tf.data with prefetch_to_device: uploads and stall",
        script=FOLDER / "tensorflow" / "input_pipeline" / "train.py",
        options=(
            *_TIMED,
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
    ),
)
