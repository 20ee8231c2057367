"""The TensorFlow programs that place ops and replicas, in one process."""

from __future__ import annotations

from runners.entries.options import JIT_COMPILE, NETWORK, REPEATS, SEED, TRAINING
from runners.program import FOLDER, Option, Program

PROGRAMS: tuple[Program, ...] = (
    Program(
        name="tf-default-placement",
        framework="tensorflow",
        title="No device named",
        summary="A Keras model trained without naming any device: where its ops land",
        script=FOLDER / "tensorflow" / "default_placement" / "train.py",
        options=(
            *TRAINING,
            JIT_COMPILE,
            Option(
                "visible",
                "how many of the devices, the first ones, TensorFlow may see (default: all)",
                None,
                type="count",
            ),
        ),
        min_devices=1,
        max_devices=None,
        default_devices=2,
        claim="TensorFlow spreads operations over the GPUs by default. Testable on two GPUs. On stand-ins "
        "the default device is the host: that nothing is spread over them says little of GPUs.",
    ),
    Program(
        name="tf-visible-order",
        framework="tensorflow",
        title="Which card gpu:0 is",
        summary="A model on gpu:0, with visible devices named in another order, to TensorFlow or to CUDA",
        script=FOLDER / "tensorflow" / "visible_order" / "train.py",
        options=(
            *TRAINING,
            JIT_COMPILE,
            Option(
                "order", "the order in which the devices are named", "backwards", ("backwards", "forwards")
            ),
            Option(
                "subset",
                "how many devices to keep, the first ones in that order (default: all)",
                None,
                type="count",
            ),
            Option(
                "by",
                "who is told of subset and order",
                "set-visible-devices",
                ("set-visible-devices", "cuda-visible-devices"),
            ),
            Option(
                "cuda-device-order",
                "CUDA's own count of the cards; it decides where no UUIDs are named",
                "unchanged",
                ("unchanged", "fastest-first", "pci-bus-id"),
            ),
        ),
        min_devices=1,
        max_devices=None,
        default_devices=2,
        claim="set_visible_devices ignores the order of its list, and only CUDA_VISIBLE_DEVICES changes "
        "which card gpu:0 is. Testable on two GPUs: stand-ins are parts of one physical device.",
    ),
    Program(
        name="tf-central-storage",
        framework="tensorflow",
        title="One copy of the weights on the host",
        summary="Data parallelism with CentralStorageStrategy: replicas read the host's weights each step",
        script=FOLDER / "tensorflow" / "central_storage" / "train.py",
        options=(*TRAINING, JIT_COMPILE),
        min_devices=1,
        max_devices=None,
        default_devices=2,
        claim="Variables live on the host: every step reads all of them from there to each device, and sends "
        "the gradients back. Testable on stand-ins; copy times on GPUs only.",
    ),
    Program(
        name="tf-pin-replica-gradients",
        framework="tensorflow",
        title="A model and its gradients on each device",
        summary="A model, an optimizer and a gradient a device by hand, each on its own slice of the batch",
        script=FOLDER / "tensorflow" / "pin_replica_gradients" / "train.py",
        options=(*TRAINING, JIT_COMPILE),
        min_devices=2,
        max_devices=None,
        default_devices=2,
        claim="Each replica's gradients stay on its device. Testable on stand-ins.",
    ),
    Program(
        name="tf-mirrored-uneven",
        framework="tensorflow",
        title="Replicas of unequal speed",
        summary="Mirrored replicas, one of them slow, with equal shares of the batch and with weighted ones",
        script=FOLDER / "tensorflow" / "mirrored_uneven" / "train.py",
        options=(
            *NETWORK,
            SEED,
            JIT_COMPILE,
            Option(
                "split",
                "shares of the batch: equal, weighted by speed, or both to compare",
                "both",
                ("both", "equal", "weighted"),
            ),
            Option(
                "slowdown",
                "injected: how many times as long the last device takes for an image",
                3,
                type="count",
            ),
            Option(
                "pause-us",
                "injected: microseconds that a replica sleeps for each image",
                300,
                type="count",
            ),
            REPEATS,
        ),
        min_devices=2,
        max_devices=None,
        default_devices=2,
        claim="A step waits for the slowest replica, and a split weighted by speed removes the wait. The "
        "unequal speed is injected, as pauses that take no core, so it is testable on stand-ins too.",
        default_steps=20,
        timed=True,
    ),
)
