"""The command line of the programs: the options that all of them share, above all which devices to use.

A device is written `cpu:1` or `gpu:0`: the framework's own numbers in this process. On a machine without
enough GPUs, `--stand-ins N` gives a program the devices cpu:1 .. cpu:N, which are the host and play GPUs.
Nothing here knows a framework.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from typing import NoReturn

from shared import digit_files

STAND_INS = 2
"""How many devices the host plays where there is no GPU and nobody says how many."""


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


def positive_list(text: str) -> list[int]:
    """Whole numbers of at least 1, separated by commas."""
    return [positive(part.strip()) for part in text.split(",")]


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


def parser(program: str, lesson: str, steps: int = 100, step: str = "training steps") -> Parser:
    """A parser with the options that every program has.

    `lesson` is the program's docstring, `steps` how many there are by default, and `step` what they are.
    """
    formatter = argparse.RawDescriptionHelpFormatter
    options = Parser(program, description=lesson, formatter_class=formatter, allow_abbrev=False)
    options.add_argument(
        "--devices",
        type=device_list,
        metavar="A,B,..",
        help="devices, in the order in which to use them (default: all GPUs, or all stand-ins)",
    )
    options.add_argument(
        "--stand-ins",
        type=positive,
        metavar="N",
        help=f"split the host: cpu:1 to cpu:N play GPUs (default: {STAND_INS} where there is none)",
    )
    options.add_argument(
        "--steps", type=positive, default=steps, metavar="N", help=f"{step} (default: {steps})"
    )
    options.add_argument(
        "--seed", type=natural, default=0, metavar="N", help="of all that is random (default: 0)"
    )
    return options


def add_network(options: Parser, width: int = 256) -> None:
    """Add the options of a network and its data, the digits; `width` is the default one."""
    add_kept_network(options, width)
    options.add_argument(
        "--data",
        choices=("digits", "mnist"),
        default="digits",
        help="the digits kept with the program, or an MNIST that was fetched for you earlier",
    )


def add_kept_network(options: Parser, width: int = 256) -> None:
    """Add the options of a network, whose data are the digits kept with it; `width` is the default one."""
    options.set_defaults(data="digits")
    options.add_argument(
        "--batch", type=positive, default=64, metavar="N", help="images a step (default: 64)"
    )
    options.add_argument(
        "--width",
        type=positive,
        default=width,
        metavar="N",
        help=f"units in a hidden layer (default: {width})",
    )


def add_training(options: Parser, width: int = 256) -> None:
    """Add the options of the programs that train and print losses; `width` is the default one."""
    add_network(options, width)
    options.add_argument(
        "--log-every", type=positive, default=10, metavar="N", help="steps between losses read (default: 10)"
    )


def add_pinned_device(options: Parser) -> None:
    """Add the option of the programs that put everything on one device."""
    options.add_argument(
        "--device", type=device, metavar="D", help="the device to pin to (default: the last of --devices)"
    )


def pinned(options: Parser, args: argparse.Namespace, chosen: Sequence[str]) -> str:
    """The device to pin to. It defaults to the last one, since the first is often the default device."""
    name: str = args.device or chosen[-1]
    if name not in chosen:
        options.error(f"--device {name} is not one of the devices of this run: {', '.join(chosen)}")
    return name


def parse(options: Parser) -> argparse.Namespace:
    """The command line's values, after the checks that need no framework."""
    args = options.parse_args()
    missing = digit_files.why_not(args.data) if hasattr(args, "data") else None
    if missing:
        options.error(missing)
    return args


def play_gpus(args: argparse.Namespace, framework: str) -> None:
    """Split the host into stand-ins where nothing else was asked for, and say so: there is no GPU."""
    if not args.devices and not args.stand_ins:
        args.stand_ins = STAND_INS
        print(
            f"{framework} sees no GPU here, so the host is split into stand-ins: --stand-ins {STAND_INS}",
            flush=True,
        )


def choose(
    options: Parser,
    args: argparse.Namespace,
    here: Sequence[str],
    framework: str,
    least: int = 1,
    most: int | None = None,
) -> list[str]:
    """The devices to use, in order, of those that `framework` has `here`.

    Exits with 2 where a device is missing, or where there are fewer than `least` or more than `most`.
    """
    kind = "cpu:" if args.stand_ins else "gpu:"
    chosen = args.devices or [name for name in here if name.startswith(kind) and name != "cpu:0"]
    if not chosen:
        options.error(
            f"{framework} sees no GPU here; add --stand-ins 2 to split the host into devices that play GPUs"
        )
    for name in chosen:
        if name not in here:
            hint = "" if args.stand_ins else "; --stand-ins N makes cpu:1 to cpu:N"
            options.error(f"there is no device {name}: {framework} has {', '.join(here)}{hint}")
    if len(chosen) < least:
        options.error(f"needs at least {least} devices, and {', '.join(chosen)} is {len(chosen)}")
    if most is not None and len(chosen) > most:
        options.error(f"can use {most} devices at most, and {', '.join(chosen)} are {len(chosen)}")
    return list(chosen)
