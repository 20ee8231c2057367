"""Times that can be compared: several ways of doing one thing, in turn, several times over."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Dict  # noqa: UP035

from shared.command import Parser, positive
from shared.progress import Progress
from shared.verdict import Repeats


def add_repeats(options: Parser) -> None:
    """Add the option of the programs that measure times."""
    options.add_argument(
        "--repeats",
        type=positive,
        default=5,
        metavar="N",
        help="how often each time is measured (default: 5); with 1 there is no spread, and no verdict",
    )


def add_variant(options: Parser, variants: Sequence[str], what: str) -> None:
    """Add the option that chooses one of several ways, which `what` tells, or all of them to compare."""
    options.add_argument(
        "--variant",
        choices=("all", *variants),
        default="all",
        help=f"{what}; all: compare these ways (default: all)",
    )


def chosen(args: argparse.Namespace, variants: Sequence[str]) -> Sequence[str]:
    """The variants to measure."""
    return variants if args.variant == "all" else (args.variant,)


def crowded() -> str | None:
    """Why Python and a stand-in could not work at the same time here, None where two cores seem free."""
    cores, load = len(os.sched_getaffinity(0)), os.getloadavg()[0]
    if cores - load > 1.5:
        return None
    return f"Python and its stand-in need a core each, and the load on {cores} was {load:.1f} already"


class Times(Dict[str, Repeats]):  # noqa: UP006 - a base class, which Python 3.9 makes at once
    """Seconds by what took them, and how busy the machine was."""

    loads: tuple[float, float] = 0.0, 0.0
    """How many threads wanted to run, on the average of the minute before: at the start, and at the end."""

    def beside(self) -> str:
        """A sentence to add to a verdict where the machine was busy, '' where it was not.

        A load is the average of a minute: the program itself has about a core's before it measures, and may
        have all cores' at the end.
        """
        cores = len(os.sched_getaffinity(0))
        start, end = self.loads
        if start <= cores / 2 + 1 and end <= cores * 1.5 + 1:
            return ""
        return (
            f". The machine was busy: a load of {start:.1f} at the start and {end:.1f} at the end, on "
            f"{cores} core{'' if cores == 1 else 's'}"
        )


def in_turn(ways: Mapping[str, Callable[[], object]], repeats: int, steps: int = 1) -> Times:
    """Do each way in turn, `repeats` times over, and return the seconds that each took each time.

    A way must wait for the device itself before it returns, and does `steps` steps. In turn, so that a
    machine that is slower for a while is slower for all of them. Before that each is done once untimed, since
    the first time allocates memory; but not where it is measured only once, to be looked at and not compared.
    """
    before = os.getloadavg()[0]
    if repeats > 1:
        for way in ways.values():
            way()
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    watch = Progress(repeats * len(ways) * steps, 1)
    done = 0
    for repeat in range(repeats):
        # There and back, so that none of them always comes after the same one.
        for name, way in list(ways.items())[:: -1 if repeat % 2 else 1]:
            start = time.perf_counter()
            way()
            seconds[name].append(time.perf_counter() - start)
            done += steps
            watch.report(done)
    times = Times({name: Repeats(tuple(values)) for name, values in seconds.items()})
    times.loads = before, os.getloadavg()[0]
    return times


def ratio(seconds: Repeats, to: Repeats) -> Repeats:
    """How many times as long the one took as the other, in each repeat."""
    return Repeats(tuple(one / other for one, other in zip(seconds.values, to.values)))


def each(seconds: Repeats, steps: int) -> Repeats:
    """The time of one of `steps` steps."""
    return Repeats(tuple(value / steps for value in seconds.values))
