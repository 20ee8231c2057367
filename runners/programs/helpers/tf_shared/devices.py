"""The options that all TensorFlow programs share, above all which devices to use.

A device is written `cpu:1` or `gpu:0`: TensorFlow's own numbers in this process. On a machine
without enough GPUs, `--stand-ins N` splits the host into the logical devices cpu:0 .. cpu:N, of which
cpu:1 .. cpu:N play GPUs: TensorFlow really places ops on them and copies between them.
TensorFlow is imported late, so that a wrong command is told at once.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import shlex
import sys
from collections.abc import Mapping
from typing import Any

from shared import command
from shared.command import Parser, add_pinned_device, pinned, positive

__all__ = [
    "Parser",
    "add_pinned_device",
    "check_batch",
    "parse",
    "parser",
    "pinned",
    "positive",
    "server_config",
    "set_up",
    "set_up_process",
    "split_host",
    "stop_tuning",
    "tf_config",
    "use_stand_ins_of_workers",
]


FIRST_PORT = 23456
"""Where the first of several processes listens in an example."""


def parser(
    program: str, lesson: str, steps: int = 100, step: str = "training steps", timed: bool = False
) -> Parser:
    """A parser with the options that all programs share; `lesson` is the program's docstring.

    `steps` is how many there are by default, and `step` what they are. A `timed` program measures time: it
    reads no losses meanwhile, and has no option for it.
    """
    options = command.parser(program, lesson, steps, step)
    if timed:
        command.add_network(options)
    else:
        command.add_training(options)
    options.add_argument(
        "--jit-compile",
        choices=("off", "on"),
        default="off",
        help="compile with XLA, which hides where the ops inside a cluster run (default: off)",
    )
    return options


def parse(options: Parser) -> argparse.Namespace:
    """The command line's values, after the checks that need no TensorFlow."""
    # TensorFlow reads this when it is imported: its start-up notes would hide the progress.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")
    args: argparse.Namespace = command.parse(options)
    return args


def check_batch(options: Parser, batch: int, replicas: int) -> None:
    """Exit with 2 where a batch has less than one image for each replica."""
    if batch < replicas:
        options.error(f"--batch {batch} is too small for {replicas} replicas: each needs an image at least")


def tf_config(options: Parser, roles: Mapping[str, int]) -> dict[str, Any]:
    """What TF_CONFIG tells one process of several: the cluster, and its task.

    Exits with 2 without it, and shows how to start a few by hand: `roles` says how many of which.
    """
    if not os.environ.get("TF_CONFIG"):
        ports = itertools.count(FIRST_PORT)
        cluster = {role: [f"localhost:{next(ports)}" for _ in range(count)] for role, count in roles.items()}
        tasks = [{"type": role, "index": rank} for role, count in roles.items() for rank in range(count)]
        configs = [json.dumps({"cluster": cluster, "task": task}) for task in tasks]
        command_line = shlex.join(["python3", *sys.argv])
        options.error(
            "this is one process of several, and TF_CONFIG, which says which one, is not set. To start "
            f"{len(tasks)} of them, enter one of these lines in each of {len(tasks)} terminals:\n"
            + "\n".join(f"  TF_CONFIG={shlex.quote(config)} {command_line}" for config in configs)
        )
    found: dict[str, Any] = json.loads(os.environ["TF_CONFIG"])
    return found


def set_up(options: Parser, args: argparse.Namespace, least: int = 1, most: int | None = None) -> list[str]:
    """Make the stand-ins and return the devices to use, in order.

    Call it before anything else of TensorFlow. Exits with 2 where a device is missing, or where there
    are fewer than `least` or more than `most`.
    """
    import tensorflow as tf

    if not tf.config.list_physical_devices("GPU"):
        command.play_gpus(args, "TensorFlow")
    if args.stand_ins:
        split_host(tf, args.stand_ins)
        if not any(name.startswith("gpu:") for name in args.devices or ()):
            # Otherwise ops that name no device would run on a GPU that this run is not about.
            tf.config.set_visible_devices([], "GPU")
    here = [name.name.removeprefix("/device:").lower() for name in tf.config.list_logical_devices()]
    chosen: list[str] = command.choose(options, args, here, "TensorFlow", least, most)
    return chosen


def set_up_process(options: Parser, args: argparse.Namespace) -> list[str]:
    """Make the stand-ins and return the devices to use, in order, of one process of several.

    TensorFlow must not begin to run before such a process has met the others, so unlike `set_up` this does
    not ask which devices it made. Exits with 2 where a device is missing.
    """
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    here = ["cpu:0", *(f"gpu:{number}" for number in range(len(gpus)))]
    if not gpus:
        command.play_gpus(args, "TensorFlow")
    if args.stand_ins:
        split_host(tf, args.stand_ins)
        here += [f"cpu:{number}" for number in range(1, args.stand_ins + 1)]
    chosen: list[str] = command.choose(options, args, here, "TensorFlow")
    kinds = {name.partition(":")[0] for name in chosen}
    if len(kinds) > 1:
        options.error(f"the devices must be all GPUs or all CPU devices, and {', '.join(chosen)} are not")
    # A strategy of several processes takes all GPUs that its process sees.
    tf.config.set_visible_devices(
        [gpu for number, gpu in enumerate(gpus) if f"gpu:{number}" in chosen], "GPU"
    )
    for gpu in tf.config.get_visible_devices("GPU"):
        # Another process may have the same one, and by default the first takes almost all of its memory.
        tf.config.experimental.set_memory_growth(gpu, True)
    if kinds == {"cpu"}:
        _use_in_workers(chosen)
    return chosen


def _use_in_workers(chosen: list[str]) -> None:
    """Make MultiWorkerMirroredStrategy put replicas on these CPU devices: without GPUs it takes cpu:0."""
    from tensorflow.python.distribute import collective_all_reduce_strategy

    def local_devices(self: Any, resolver: Any, worker: str) -> tuple[tuple[str, ...], str]:
        return tuple(f"{worker}/device:{name.upper()}" for name in chosen), "CPU"

    extended: Any = collective_all_reduce_strategy.CollectiveAllReduceExtended
    extended._initialize_local_devices = local_devices


def server_config(options: Parser, args: argparse.Namespace) -> Any:
    """The devices to use, as tf.distribute.Server wants to be told of them: tf.config means nothing to it.

    Exits with 2 where a device is missing.
    """
    import tensorflow as tf

    chosen = set_up_process(options, args)
    config = tf.compat.v1.ConfigProto()
    gpus = [name.partition(":")[2] for name in chosen if name.startswith("gpu:")]
    if gpus:
        config.gpu_options.visible_device_list = ",".join(gpus)
        config.gpu_options.allow_growth = True
    else:
        config.device_count["GPU"] = 0
        config.device_count["CPU"] = 1 + max(int(name.partition(":")[2]) for name in chosen)
    return config


def use_stand_ins_of_workers(args: argparse.Namespace) -> None:
    """Make ParameterServerStrategy put replicas on the workers' stand-ins: without GPUs it takes cpu:0.

    For the chief, whose strategy it is, and who has no such devices itself.
    """
    import tensorflow as tf

    if not tf.config.list_physical_devices("GPU"):
        command.play_gpus(args, "TensorFlow")
    stand_ins = [f"cpu:{number}" for number in range(1, (args.stand_ins or 0) + 1)]
    chosen = args.devices or stand_ins
    if any(name.startswith("gpu:") for name in chosen) or not chosen:
        return
    from tensorflow.python.distribute import parameter_server_strategy_v2

    extended: Any = parameter_server_strategy_v2.ParameterServerStrategyV2Extended
    extended._num_replicas_in_sync = len(chosen)
    extended.worker_devices = tuple(f"/device:{name.upper()}" for name in chosen)


def stop_tuning() -> None:
    """Have input pipelines end at once when they are let go: what tunes one may go on sleeping for a minute.

    By default tf.data tunes each of them in a thread of its own, which sleeps between two rounds, twice as
    long each time and up to a minute. A pipeline that is let go wakes that thread before it sets the flag
    that the thread looks at (Model::OptimizeLoop and CancellationManager in TensorFlow's sources), so that
    often enough the thread goes back to sleep, and Python waits for it. The options of a dataset do not
    reach the parts that a strategy makes of it on the devices.
    """
    import tensorflow as tf
    from tensorflow.python.data.ops import dataset_ops

    untuned = tf.data.Options()
    untuned.autotune.enabled = False
    dataset: Any = dataset_ops.DatasetV2
    as_before = dataset._apply_debug_options  # all that are iterated over pass here

    def apply_options(self: Any) -> Any:
        return as_before(self.with_options(untuned))

    dataset._apply_debug_options = apply_options


def split_host(tf: Any, stand_ins: int) -> None:
    """Give the host's CPU `stand_ins` logical devices beside cpu:0."""
    host = tf.config.list_physical_devices("CPU")[0]
    logical = [tf.config.LogicalDeviceConfiguration() for _ in range(stand_ins + 1)]
    tf.config.set_logical_device_configuration(host, logical)
