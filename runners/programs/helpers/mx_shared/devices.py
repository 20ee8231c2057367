"""The options that all MXNet programs share, above all which devices to use.

A device is written `cpu:1` or `gpu:0`, for the context mx.cpu(1) or mx.gpu(0). On a machine without enough
GPUs, `--stand-ins N` lets the contexts mx.cpu(1) .. mx.cpu(N) play GPUs: MXNet really places arrays on them
and copies between them, though all of them are the host's memory and processor. Each of them computes with
one thread.
MXNet is imported late, so that a wrong command is told at once.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shared import command
from shared.command import (
    Parser,
    add_network,
    add_pinned_device,
    add_training,
    choose,
    parser,
    pinned,
    positive,
    positive_list,
)

__all__ = [
    "HOST",
    "Parser",
    "add_network",
    "add_pinned_device",
    "add_training",
    "context",
    "name_of",
    "parse",
    "parser",
    "pinned",
    "positive",
    "positive_list",
    "set_up",
    "stand_ins_only",
]

HOST = "cpu:0"


def parse(options: Parser) -> argparse.Namespace:
    """The command line's values, after the checks that need no MXNet."""
    args: argparse.Namespace = command.parse(options)
    if not list(Path("/dev").glob("nvidia[0-9]*")):  # before MXNet is imported, which could tell
        command.play_gpus(args, "MXNet")
    if args.stand_ins:
        # The OpenBLAS in MXNet's wheel hangs when two contexts multiply at once with several threads each,
        # which is the default from four cores on. OpenMP reads this when MXNet is imported.
        os.environ["OMP_NUM_THREADS"] = "1"
    return args


def set_up(options: Parser, args: argparse.Namespace, least: int = 1, most: int | None = None) -> list[str]:
    """Return the devices to use, in order.

    Exits with 2 where a device is missing, or where there are fewer than `least` or more than `most`.
    """
    import mxnet as mx

    gpus = [f"gpu:{index}" for index in range(mx.context.num_gpus())]
    here = [f"cpu:{index}" for index in range((args.stand_ins or 0) + 1)] + gpus
    chosen: list[str] = choose(options, args, here, "MXNet", least, most)
    return chosen


def context(name: str) -> Any:
    """The context of a device: mx.cpu(1) for `cpu:1`."""
    import mxnet as mx

    kind, _, number = name.partition(":")
    return mx.Context(kind, int(number))


def name_of(context: Any) -> str:
    """The device of a context: `cpu:1` for mx.cpu(1), the host for its pinned and its shared memory."""
    if context.device_type in ("cpu_pinned", "cpu_shared"):
        return HOST
    return f"{context.device_type}:{context.device_id}"


def stand_ins_only(names: Sequence[str]) -> bool:
    """Whether all of these devices are the host playing GPUs."""
    return all(name.startswith("cpu:") for name in names)
