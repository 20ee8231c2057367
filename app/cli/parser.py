"""An argument parser whose errors are one line and name what was probably meant."""

from __future__ import annotations

import argparse
import math
from typing import NoReturn

from runners.catalogue import did_you_mean
from runners.environments.frameworks import FRAMEWORKS
from runners.errors import UsageError


class Parser(argparse.ArgumentParser):
    """Raises UsageError where argparse would print its usage and exit."""

    def __init__(self, prog: str, description: str) -> None:
        super().__init__(prog=prog, description=description, allow_abbrev=False)

    def parse(self, words: list[str]) -> argparse.Namespace:
        """Return the parsed arguments; UsageError for words that mean nothing."""
        known, unknown = self.parse_known_args(words)
        if unknown:
            word = unknown[0].partition("=")[0]
            options = [option for action in self._actions for option in action.option_strings]
            hint = did_you_mean(word, options) if word.startswith("-") else ""
            raise UsageError(f"{self.prog} does not know {word!r}{hint or f'; see {self.prog} --help'}")
        return known

    def error(self, message: str) -> NoReturn:
        """Raise argparse's message as a UsageError."""
        raise UsageError(f"{self.prog}: {message}")


def device_list(text: str) -> list[str]:
    """Split `gpu:0,gpu:1`; what the parts mean is judged later."""
    parts = [part.strip() for part in text.split(",")]
    if not all(parts):
        raise argparse.ArgumentTypeError(f"{text!r} names no device; write gpu:0,gpu:1 or cpu:1,cpu:2")
    return parts


def whole_number(text: str) -> int:
    """Return a whole number of at least 1."""
    return _at_least(1, text)


def natural_number(text: str) -> int:
    """Return a whole number of at least 0."""
    return _at_least(0, text)


def _at_least(least: int, text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if number < least:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least {least}")
    return number


def seconds(text: str) -> float:
    """Return a length of time of at least 0."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return value


def port_number(text: str) -> int:
    """Return a TCP port."""
    number = int(text) if text.isdecimal() else 0
    if not 1 <= number <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: it is 1 to 65535")
    return number


def option_value(text: str) -> tuple[str, str]:
    """Split `OPTION=VALUE`."""
    name, sign, value = text.partition("=")
    if not (name.strip() and sign):
        raise argparse.ArgumentTypeError(f"{text!r} is not OPTION=VALUE")
    return name.strip().removeprefix("--"), value


def add_json(parser: Parser) -> None:
    """Add --json."""
    parser.add_argument(
        "--json",
        action="store_true",
        help="print one JSON object as the last line of standard output; all else goes to standard error",
    )


def add_launch_options(parser: Parser, host: str) -> None:
    """Add what `run` and `demo` have in common; `host` says what a ``cpu:`` device is for."""
    parser.add_argument(
        "--devices",
        type=device_list,
        metavar="A,B,..",
        help=f"devices in order: gpu:0 as nvidia-smi numbers them, {host}",
    )
    parser.add_argument("--python", metavar="EXE", help="interpreter to use instead of the framework's own")
    parser.add_argument("--share", action="store_true", help="use GPUs that another run uses, too")
    parser.add_argument(
        "--no-record", action="store_true", help="run it without the recorder, for comparing times"
    )
    parser.add_argument(
        "--exact",
        "--exact-lines",
        action="store_true",
        help="; ".join([*(one.exact.brief for one in FRAMEWORKS.values()), "slower"]),
    )
    add_json(parser)
