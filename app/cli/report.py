"""`report`: what a run's recording says."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

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
    from app.reports.formats import FORMATS

    for form in FORMATS:
        parser.add_argument(f"--{form.name}", type=Path, metavar="FILE", help=form.help)
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
    written = _write(report, args)
    if args.json:
        print_json(report)
    elif written:
        say("\n".join(map(str, written)))
    else:
        from app.reports.text import render_text

        folded = "" if args.notes else f"python3 -m app report {shlex.quote(args.run)} --notes"
        say(render_text(report, folded))
    return 0


def _write(report: Mapping[str, Any], args: argparse.Namespace) -> list[Path]:
    """Write the files that are asked for, and return their paths."""
    from app.reports.formats import FORMATS

    written = []
    for form in FORMATS:
        file: Path | None = getattr(args, form.name.replace("-", "_"))
        if file is None:
            continue
        try:
            file.write_text(form.render(report), encoding="utf-8")
        except OSError as error:
            raise HopscopeError(f"{file} cannot be written: {error.strerror}") from None
        written.append(file)
    return written
