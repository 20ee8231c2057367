"""`report`: what a run's recording says."""

from __future__ import annotations

import shlex
from pathlib import Path

from app.cli.output import print_json, say
from app.cli.parser import Parser, add_json
from runners.errors import HopscopeError
from runners.runs import registry
from runners.runs.purpose import is_preflight

SUMMARY = "say what a run did: findings, hops, placement, memory"


def add_arguments(parser: Parser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("run", metavar="RUN", help="a run's id, the beginning of one, or a run folder")
    parser.add_argument("--notes", action="store_true", help="with the findings that need no change")
    parser.add_argument("--ops", action="store_true", help="with a row for every op")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write it as a page of its own")
    add_json(parser)


def execute(arguments: list[str], parser: Parser) -> int:
    """Print the report."""
    args = parser.parse(arguments)
    run = registry.find(args.run)
    from app.reports.run_report import run_report

    report = run_report(run.path, ops=args.ops)
    if is_preflight(run):
        from app.reports.prediction_report import foreseen_part

        report |= foreseen_part(run.path)
    if args.html is not None:
        from app.reports.html import render_html

        try:
            args.html.write_text(render_html(report), encoding="utf-8")
        except OSError as error:
            raise HopscopeError(f"{args.html} cannot be written: {error.strerror}") from None
    if args.json:
        print_json(report)
    elif args.html is not None:
        say(str(args.html))
    else:
        from app.reports.text import render_text

        folded = "" if args.notes else f"python3 -m app report {shlex.quote(args.run)} --notes"
        say(render_text(report, folded))
    return 0
