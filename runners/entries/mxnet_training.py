"""The MXNet programs that train a network."""

from __future__ import annotations

import dataclasses

from runners.entries.options import PINNED, TRAINING
from runners.program import FOLDER, Option, Program

_NARROW = tuple(
    dataclasses.replace(option, default=64) if option.name == "width" else option for option in TRAINING
)

PROGRAMS = (
    Program(
        name="mx-module",
        framework="mxnet",
        title="The Module API on one context",
        summary="Symbol, Module(context=..), bind, init_params and fit on one chosen device",
        script=FOLDER / "mxnet" / "module" / "train.py",
        options=(*TRAINING, PINNED),
        min_devices=1,
        max_devices=None,
        default_devices=2,
        claim="Arguments, gradients and outputs are all on that one context; the batches go there, and fit's "
        "metric reads the outputs in every step. Testable on stand-ins.",
    ),
    Program(
        name="mx-module-data-parallel",
        framework="mxnet",
        title="A Module on several contexts",
        summary="Data parallelism: Module cuts each batch over its contexts, a kvstore sums the gradients",
        script=FOLDER / "mxnet" / "module_data_parallel" / "train.py",
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
    ),
    Program(
        name="mx-gluon-data-parallel",
        framework="mxnet",
        title="Gluon on several contexts",
        summary="Data parallelism: split_and_load cuts each batch, a Trainer exchanges the gradients, or not",
        script=FOLDER / "mxnet" / "gluon_data_parallel" / "train.py",
        options=(
            *TRAINING,
            Option(
                "kvstore",
                "where gradients are summed: on the host, on the devices, or nowhere",
                "local",
                ("local", "device", "none"),
                concerns=("reduce-on-host", "replica-drift"),
            ),
        ),
        min_devices=2,
        max_devices=None,
        default_devices=2,
        claim="local sums on the host, device on the devices, and none lets the copies drift: testable on "
        "stand-ins. That device may use more memory there: on GPUs only.",
    ),
    Program(
        name="mx-model-parallel-lstm",
        framework="mxnet",
        title="LSTM layers over devices",
        summary="Model parallelism: an LSTM's layers are split over devices with ctx_group and group2ctx",
        script=FOLDER / "mxnet" / "model_parallel_lstm" / "train.py",
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
    ),
)
