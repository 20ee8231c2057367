"""The options that all programs share, above all which devices to use. TensorFlow is imported late.

A device is written `cpu:1` or `gpu:0`: TensorFlow's own numbers in this process. On a machine
without enough GPUs, `--stand-ins N` splits the host into the logical devices cpu:0 .. cpu:N, of which
cpu:1 .. cpu:N play GPUs: TensorFlow really places ops on them and copies between them.
"""

import argparse
import os
import re
import sys
from typing import Any, NoReturn

import digits


class Parser(argparse.ArgumentParser):
    """An argument parser that says in one line what is wrong with the command, and exits with 2."""

    def error(self, message: str) -> NoReturn:
        """Print `message` as one line and exit."""
        print(f"{self.prog}: {message}", file=sys.stderr)
        raise SystemExit(2)


def positive(text: str) -> int:
    """A whole number of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def natural(text: str) -> int:
    """A whole number of 32 bits, not negative."""
    if not text.isdecimal() or int(text) >= 2**31:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 to {2**31 - 1}")
    return int(text)


def device(text: str) -> str:
    """A device's name, `cpu:1` or `gpu:0`."""
    name = text.strip().lower()
    if not re.fullmatch(r"(cpu|gpu):(0|[1-9]\d*)", name):
        raise argparse.ArgumentTypeError(f"{text!r} is not a device; write cpu:1 or gpu:0")
    return name


def device_list(text: str) -> list[str]:
    """Different devices, separated by commas, in the order in which to use them."""
    names = [device(part) for part in text.split(",")]
    for name in names:
        if names.count(name) > 1:
            raise argparse.ArgumentTypeError(f"{name} is named twice in {text!r}")
    return names


def parser(program: str, lesson: str) -> Parser:
    """A parser with the options that all programs share; `lesson` is the program's docstring."""
    formatter = argparse.RawDescriptionHelpFormatter
    options = Parser(program, description=lesson, formatter_class=formatter, allow_abbrev=False)
    options.add_argument(
        "--devices",
        type=device_list,
        metavar="A,B,..",
        help="devices, in the order in which to use them (default: all GPUs, or all stand-ins)",
    )
    options.add_argument(
        "--stand-ins", type=positive, metavar="N", help="split the host: cpu:1 to cpu:N play GPUs"
    )
    options.add_argument(
        "--steps", type=positive, default=100, metavar="N", help="training steps (default: 100)"
    )
    options.add_argument(
        "--batch", type=positive, default=64, metavar="N", help="images a step (default: 64)"
    )
    options.add_argument(
        "--width", type=positive, default=256, metavar="N", help="units in a hidden layer (default: 256)"
    )
    options.add_argument(
        "--jit-compile",
        choices=("off", "on"),
        default="off",
        help="compile with XLA, which hides where the ops inside a cluster run (default: off)",
    )
    options.add_argument(
        "--data",
        choices=("digits", "mnist"),
        default="digits",
        help="the digits kept with the program, or the MNIST that Keras fetched for you earlier",
    )
    options.add_argument(
        "--log-every", type=positive, default=10, metavar="N", help="steps between losses read (default: 10)"
    )
    options.add_argument(
        "--seed", type=natural, default=0, metavar="N", help="of the weights and the batches (default: 0)"
    )
    return options


def add_pinned_device(options: Parser) -> None:
    """Add the option of the programs that put everything on one device."""
    options.add_argument(
        "--device", type=device, metavar="D", help="the device to pin to (default: the last of --devices)"
    )


def pinned(options: Parser, args: argparse.Namespace, chosen: list[str]) -> str:
    """The device to pin to. It defaults to the last one, since the first is often the default device."""
    name: str = args.device or chosen[-1]
    if name not in chosen:
        options.error(f"--device {name} is not one of the devices of this run: {', '.join(chosen)}")
    return name


def parse(options: Parser) -> argparse.Namespace:
    """The command line's values, after the checks that need no TensorFlow."""
    args = options.parse_args()
    if args.data == "mnist" and not digits.mnist_file().exists():
        options.error(f"there is no MNIST at {digits.mnist_file()}; use --data digits")
    # TensorFlow reads this when it is imported: its start-up notes would hide the progress.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")
    return args


def set_up(options: Parser, args: argparse.Namespace, least: int = 1, most: int | None = None) -> list[str]:
    """Make the stand-ins and return the devices to use, in order.

    Call it before anything else of TensorFlow. Exits with 2 where a device is missing, or where there
    are fewer than `least` or more than `most`.
    """
    import tensorflow as tf

    chosen: list[str] = args.devices or []
    if args.stand_ins:
        split_host(tf, args.stand_ins)
        if not any(name.startswith("gpu:") for name in chosen):
            # Otherwise ops that name no device would run on a GPU that this run is not about.
            tf.config.set_visible_devices([], "GPU")
    elif not tf.config.list_physical_devices("GPU") and not chosen:
        options.error(
            "TensorFlow sees no GPU here; add --stand-ins 2 to split the host into devices that play GPUs"
        )
    here = [name.name.removeprefix("/device:").lower() for name in tf.config.list_logical_devices()]
    kind = "cpu:" if args.stand_ins else "gpu:"
    chosen = chosen or [name for name in here if name.startswith(kind) and name != "cpu:0"]
    for name in chosen:
        if name not in here:
            hint = "" if args.stand_ins else "; --stand-ins N makes cpu:1 to cpu:N"
            options.error(f"there is no device {name}: TensorFlow has {', '.join(here)}{hint}")
    if len(chosen) < least:
        options.error(f"needs at least {least} devices, and {', '.join(chosen)} is {len(chosen)}")
    if most is not None and len(chosen) > most:
        options.error(f"can use {most} devices at most, and {', '.join(chosen)} are {len(chosen)}")
    return chosen


def split_host(tf: Any, stand_ins: int) -> None:
    """Give the host's CPU `stand_ins` logical devices beside cpu:0."""
    host = tf.config.list_physical_devices("CPU")[0]
    logical = [tf.config.LogicalDeviceConfiguration() for _ in range(stand_ins + 1)]
    tf.config.set_logical_device_configuration(host, logical)
