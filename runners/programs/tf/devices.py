"""The options that all TensorFlow programs share, above all which devices to use.

A device is written `cpu:1` or `gpu:0`: TensorFlow's own numbers in this process. On a machine
without enough GPUs, `--stand-ins N` splits the host into the logical devices cpu:0 .. cpu:N, of which
cpu:1 .. cpu:N play GPUs: TensorFlow really places ops on them and copies between them.
TensorFlow is imported late, so that a wrong command is told at once.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

# The programs run as plain scripts. Importing this file lets them import what all of them share.
sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from shared import command
from shared.command import Parser, add_pinned_device, pinned, positive

__all__ = ["Parser", "add_pinned_device", "parse", "parser", "pinned", "positive", "set_up", "split_host"]


def parser(program: str, lesson: str) -> Parser:
    """A parser with the options that all programs share; `lesson` is the program's docstring."""
    options = command.parser(program, lesson)
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


def set_up(options: Parser, args: argparse.Namespace, least: int = 1, most: int | None = None) -> list[str]:
    """Make the stand-ins and return the devices to use, in order.

    Call it before anything else of TensorFlow. Exits with 2 where a device is missing, or where there
    are fewer than `least` or more than `most`.
    """
    import tensorflow as tf

    if args.stand_ins:
        split_host(tf, args.stand_ins)
        if not any(name.startswith("gpu:") for name in args.devices or ()):
            # Otherwise ops that name no device would run on a GPU that this run is not about.
            tf.config.set_visible_devices([], "GPU")
    here = [name.name.removeprefix("/device:").lower() for name in tf.config.list_logical_devices()]
    chosen: list[str] = command.choose(options, args, here, "TensorFlow", least, most)
    return chosen


def split_host(tf: Any, stand_ins: int) -> None:
    """Give the host's CPU `stand_ins` logical devices beside cpu:0."""
    host = tf.config.list_physical_devices("CPU")[0]
    logical = [tf.config.LogicalDeviceConfiguration() for _ in range(stand_ins + 1)]
    tf.config.set_logical_device_configuration(host, logical)
