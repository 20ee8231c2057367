"""`rm`: delete runs."""

from __future__ import annotations

import sys

from app.cli.output import print_json, say, tell
from app.cli.parser import Parser, add_json
from runners.printable import printable
from runners.runs import registry

SUMMARY = "delete ended runs with all that was recorded"


def add_arguments(parser: Parser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("runs", metavar="RUN", nargs="+", help="a run's id, its beginning, or its folder")
    parser.add_argument("--yes", "-y", action="store_true", help="do not ask")
    add_json(parser)


def execute(arguments: list[str], parser: Parser) -> int:
    """Delete the runs; asks first on a terminal."""
    args = parser.parse(arguments)
    # All are looked up first: a wrong name among them deletes nothing.
    chosen = list({run.path: run for run in map(registry.listed, args.runs)}.values())
    if not (args.yes or args.json) and sys.stdin is not None and sys.stdin.isatty():
        names = ", ".join(run.id for run in chosen)
        print(f"delete {printable(names)}? [y/N] ", end="", file=sys.stderr, flush=True)
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            tell("nothing was deleted")
            return 1
    for run in chosen:
        registry.remove(run)
        if not args.json:
            say(f"{run.id} deleted")
    if args.json:
        print_json({"removed": [run.id for run in chosen]})
    return 0
