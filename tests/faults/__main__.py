"""Tries all faults over and over: `python -m tests.faults [--rounds N] [--only NAME ..] [--seed S]`.

It prints what was tried, how often, and what failed. Exit status 1 where anything failed. A failed round is
tried again with the same --seed, --only NAME and --round N.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.faults.catalogue import ROUNDS, faults
from tests.faults.playing import Tally, play, table

SOAK_S = 3600.0


def main(arguments: list[str]) -> int:
    """Try the faults, print the table and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"kills in all (default: {ROUNDS})")
    parser.add_argument("--seed", default="1", help="the same text gives the same rounds (default: 1)")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these faults; a beginning names several")
    parser.add_argument("--round", type=int, metavar="N", help="this round alone")
    parser.add_argument("--soak", type=float, default=SOAK_S, metavar="SECONDS", help="default: an hour")
    parser.add_argument("--list", action="store_true", help="name the faults and end")
    args = parser.parse_args(arguments)
    done: list[Tally] = []
    with (
        tempfile.TemporaryDirectory(prefix="hopscope-faults-") as folder,
        faults(args.soak, lambda text: print(f"  {text}", file=sys.stderr, flush=True)) as known,
    ):
        chosen = [fault for fault in known if args.only is None or fault.name.startswith(tuple(args.only))]
        if not chosen:
            parser.error(f"no fault is named {args.only}; --list names them")
        if args.list:
            print("\n".join(f"{fault.name:24} {fault.text}" for fault in chosen))
            return 0
        for fault in chosen:
            numbers = range(fault.rounds(args.rounds)) if args.round is None else [args.round]
            done.append(play(fault, numbers, args.seed, Path(folder), sys.stderr))
    print(table(done))
    return 1 if any(tally.failures for tally in done) else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
