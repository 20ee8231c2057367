"""`devices`: this machine's GPUs as nvidia-smi shows them, and which card is which."""

from __future__ import annotations

import argparse
import math
import os
import sys
from pathlib import Path

from app.cli.machine_samples import Samples
from app.cli.output import duration, print_json, say, tell
from app.cli.parser import Parser, add_json, seconds
from app.cli.redraw import Screen, can_redraw
from app.views import units
from app.views.costs_text import costs_text
from app.views.smi_text import machine_text, nvml_problem
from probes.nvml.sampler import FASTEST_HZ, SLOWEST_HZ
from runners.errors import HopscopeError, UsageError
from runners.machine.copy_costs import costs_file
from runners.machine.copy_measuring import measure
from runners.machine.cuda_order import with_ordinals
from runners.machine.monitor import read_once
from runners.recordings.recordings import HOLDS, Recorder

SUMMARY = "show this machine's GPUs, and which card is which; or record them"


def add_arguments(parser: Parser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--watch", action="store_true", help="show it again and again, until Ctrl-C")
    parser.add_argument(
        "--record",
        type=Path,
        metavar="FILE",
        help=f"write what is sampled into FILE (.jsonl.gz), to be replayed elsewhere; {HOLDS}",
    )
    parser.add_argument(
        "--bandwidth",
        action="store_true",
        help="measure what copies between the GPUs and the host cost, and keep it: hops are then told with"
        " estimated times",
    )
    parser.add_argument("--overwrite", action="store_true", help="let --record replace a file that exists")
    parser.add_argument(
        "--hz",
        type=rate,
        metavar="N",
        help=f"samples a second of --watch and --record, {SLOWEST_HZ:g} to {FASTEST_HZ:g} (default: 1)",
    )
    parser.add_argument(
        "--for",
        type=seconds,
        dest="seconds",
        metavar="SECONDS",
        help="how long --watch or --record go on (default: until Ctrl-C)",
    )
    add_json(parser)


def rate(text: str) -> float:
    """Return a rate that the sampler can keep."""
    try:
        hz = float(text)
    except ValueError:
        hz = math.nan
    if not SLOWEST_HZ <= hz <= FASTEST_HZ:
        raise argparse.ArgumentTypeError(f"{text!r} is not a rate: {SLOWEST_HZ:g} to {FASTEST_HZ:g} a second")
    return hz


def execute(arguments: list[str], parser: Parser) -> int:
    """Show the devices, also where there are none: then it says why."""
    args = parser.parse(arguments)
    _refuse_contradictions(args)
    hz = 1.0 if args.hz is None else args.hz
    if args.record is not None:
        return _record(args.record, args.overwrite, hz, args.seconds, args.json)
    if args.bandwidth:
        return _bandwidth(args.json)
    if args.watch:
        return _watch(hz, args.seconds, args.json)
    snapshot = with_ordinals(read_once())
    if args.json:
        print_json(snapshot)
    else:
        say(machine_text(snapshot, os.environ), end="")
    return 0


def _refuse_contradictions(args: argparse.Namespace) -> None:
    chosen = [
        name
        for name, given in (
            ("--watch", args.watch),
            ("--record", args.record is not None),
            ("--bandwidth", args.bandwidth),
        )
        if given
    ]
    if len(chosen) > 1:
        raise UsageError(f"{' and '.join(chosen)} are two things: give one of them")
    if args.overwrite and args.record is None:
        raise UsageError("--overwrite goes with --record FILE")
    if not args.watch and args.record is None:
        for name, value in (("--hz", args.hz), ("--for", args.seconds)):
            if value is not None:
                raise UsageError(f"{name} goes with --watch or --record FILE")


def _watch(hz: float, how_long_s: float | None, as_json: bool) -> int:
    with Samples(hz, how_long_s) as samples:
        try:
            if as_json:
                for _, snapshot in samples:
                    print_json(with_ordinals(snapshot))
            elif can_redraw():
                with Screen(samples.again) as screen:
                    for _, snapshot in samples:
                        screen.draw(machine_text(with_ordinals(snapshot), os.environ))
            else:
                for _, snapshot in samples:
                    say(machine_text(with_ordinals(snapshot), os.environ))
        except KeyboardInterrupt:
            # That is how it is meant to end.
            pass
    return 0


def _record(path: Path, overwrite: bool, hz: float, how_long_s: float | None, as_json: bool) -> int:
    recorder = Recorder(path, overwrite)
    tell(f"recording into {path}{'' if how_long_s is not None else ' until Ctrl-C'}; {HOLDS}")
    problem: str | None = None
    with Samples(hz, how_long_s) as samples:
        try:
            for message, snapshot in samples:
                recorder.add(message, snapshot)
                now = nvml_problem(snapshot)
                if now != problem:
                    tell("the GPUs are back" if now is None else f"{now}; only the host is recorded")
                    problem = now
        except KeyboardInterrupt:
            pass
        finally:
            recorder.close()
    if not recorder.samples:
        raise HopscopeError(f"nothing was recorded, so {path} was not made: no sample came")
    length_s = recorder.last_t - recorder.first_t
    if as_json:
        made = {"samples": recorder.samples, "seconds": round(length_s, 3), "bytes": recorder.bytes}
        print_json({"recording": str(path)} | made)
    else:
        samples_told = units.plural(recorder.samples, "sample")
        print(
            f"{path}: {samples_told} in {duration(length_s)}, {units.size(recorder.bytes)}", file=sys.stdout
        )
    return 0


def _bandwidth(as_json: bool) -> int:
    snapshot = read_once(between_s=0.0)
    shown = sys.stderr.isatty()

    def progress(done: int, of: int, text: str) -> None:
        if shown:
            print(f"\r\x1b[K{done} of {of}: {text}", end="", file=sys.stderr, flush=True)

    try:
        costs = measure(progress, snapshot)
    finally:
        if shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    if as_json:
        print_json(costs.as_json())
    else:
        names = {
            gpu["uuid"]: f"gpu:{gpu['index']}" for gpu in snapshot["gpus"] if isinstance(gpu["uuid"], str)
        }
        say(costs_text(costs, names), end="")
        tell(f"kept in {costs_file()}: hops between measured devices are now told with estimated times")
    return 0
