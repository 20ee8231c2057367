"""`stop`: end a run."""

from __future__ import annotations

from app.cli.output import describe_run, print_json, say
from app.cli.parser import Parser, add_json, seconds
from runners.runs import registry
from runners.runs.supervision import DEFAULT_GRACE_S

SUMMARY = "stop a run: TERM, and KILL after a grace"


def add_arguments(parser: Parser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("run", metavar="RUN", help="a run's id, the beginning of one, or its folder")
    parser.add_argument(
        "--grace",
        type=seconds,
        default=DEFAULT_GRACE_S,
        metavar="SECONDS",
        help=f"time it has to end by itself (default: {DEFAULT_GRACE_S:g})",
    )
    add_json(parser)


def execute(arguments: list[str], parser: Parser) -> int:
    """Stop the run and say how it ended."""
    args = parser.parse(arguments)
    before = registry.listed(args.run)
    over = before.ended
    run = registry.stop(before, args.grace)
    if args.json:
        print_json(describe_run(run))
    else:
        state, reason = run.judge()
        had = "had ended before: " if over else ""
        say(f"{run.id} {had}{state}{f': {reason}' if reason else ''}")
    return 0
