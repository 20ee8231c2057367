"""The TensorFlow programs."""

from __future__ import annotations

from runners.entries.options import JIT_COMPILE, PINNED, TRAINING
from runners.program import FOLDER, Option, Program

_COMMON = (*TRAINING, JIT_COMPILE)

PROGRAMS = (
    Program(
        name="tf-mirrored",
        framework="tensorflow",
        title="Mirrored replicas",
        summary="Data parallelism: each device has a copy of the model, gradients are summed each step",
        script=FOLDER / "tensorflow" / "mirrored" / "train.py",
        options=(
            *_COMMON,
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
    ),
    Program(
        name="tf-model-parallel",
        framework="tensorflow",
        title="Layers over devices",
        summary="Model parallelism: the layers of one network are split over devices with tf.device",
        script=FOLDER / "tensorflow" / "model_parallel" / "train.py",
        options=(
            *_COMMON,
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
    ),
    Program(
        name="tf-pin-gradients",
        framework="tensorflow",
        title="Gradients in and out of the scope",
        summary="One pinned model, a custom loop, and tape.gradient called inside or outside of tf.device",
        script=FOLDER / "tensorflow" / "pin_gradients" / "train.py",
        options=(
            *_COMMON,
            PINNED,
            Option(
                "gradients",
                "where tape.gradient is called",
                "outside",
                ("outside", "inside"),
                concerns=("gradient-outside-scope",),
            ),
        ),
        min_devices=1,
        max_devices=None,
        default_devices=2,
        claim="Without the scope the gradients run elsewhere: on the default device. Testable on stand-ins, "
        "where the default device is the host, and on two GPUs, where it is gpu:0.",
    ),
    Program(
        name="tf-pin-model",
        framework="tensorflow",
        title="A Keras model on one device",
        summary="A Keras model that is built and fitted inside tf.device of one chosen device",
        script=FOLDER / "tensorflow" / "pin_model" / "train.py",
        options=(
            *_COMMON,
            PINNED,
            Option(
                "memory-growth", "on GPUs, take memory as needed or all at the start", "on", ("on", "off")
            ),
            Option("keras", "Keras 3, or the legacy Keras 2 of tf_keras", "3", ("3", "2")),
        ),
        min_devices=1,
        max_devices=None,
        default_devices=2,
        claim="Variables, forward, backward and optimizer slots all live there; testable on stand-ins. "
        "Without memory growth TensorFlow takes the card; testable on a GPU only.",
    ),
)
