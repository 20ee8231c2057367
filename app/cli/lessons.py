"""`lessons`: the claims about placement, and what runs on this machine say of them."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence

from app.cli.output import print_json, say, table, tell
from app.cli.parser import Parser, add_json
from app.lessons import batch
from app.lessons.batch import Batch
from app.lessons.driver import run_lessons
from app.lessons.judged import JUDGED, REFUSED, Judged, lessons
from runners.errors import UsageError
from runners.programs.verdicts import FAILS, HOLDS, UNTESTABLE

SUMMARY = "judge what the programs are to teach by runs on this machine"
WIDTH = 100
STOPPED = 130
"""Exit status where the batch was stopped before its end, as shells have it of an interrupted command."""


def add_arguments(parser: Parser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "programs", nargs="*", metavar="PROGRAM", help="only the lessons of these (default: all)"
    )
    parser.add_argument(
        "--run", action="store_true", help="first make the runs that are missing, one after the other"
    )
    parser.add_argument("--again", action="store_true", help="with --run, make all of their runs again")
    add_json(parser)


def execute(arguments: list[str], parser: Parser) -> int:
    """Run what is missing where that was asked for, and print the lessons with their verdicts."""
    args = parser.parse(arguments)
    if args.again and not args.run:
        raise UsageError("--again goes with --run")
    made = run_lessons(args.programs, args.again, tell) if args.run else None
    found = lessons(args.programs)
    if args.json:
        last = made or batch.state()
        print_json({"lessons": [one.row() for one in found], "batch": None if last is None else last.row()})
    else:
        say("\n\n".join(map(_text, found)) if args.programs else _table(found))
        if not args.programs:
            tell("python3 -m app lessons PROGRAM tells what was measured")
    if made is not None:
        tell(_outcome(made))
        if made.state == batch.STOPPED:
            return STOPPED
        return 1 if made.count(batch.FAILED) else 0
    return 0


def _table(found: Sequence[Judged]) -> str:
    head = ("LESSON", "VERDICTS", "RUNS", "TITLE")
    return table(head, [(one.program, _verdicts(one), _runs(one), one.title) for one in found])


def _verdicts(one: Judged) -> str:
    """`2 hold, 1 does not, 1 not testable here`, or the lesson's state."""
    if not one.verdicts:
        return one.state
    counts = Counter(verdict.verdict for verdict in one.verdicts)
    holds, fails, untestable = counts[HOLDS], counts[FAILS], counts[UNTESTABLE]
    words = [
        f"{holds} {'holds' if holds == 1 else 'hold'}" if holds else "",
        f"{fails} {'does' if fails == 1 else 'do'} not" if fails else "",
        f"{untestable} not testable here" if untestable else "",
    ]
    return ", ".join(filter(None, words))


def _runs(one: Judged) -> str:
    needed = [run for run in one.runs if run.state != REFUSED]
    return f"{sum(run.state == 'finished' for run in needed)} of {len(needed)}" if needed else "none"


def _text(one: Judged) -> str:
    state = "" if one.state == JUDGED else f"  [{one.state}]"
    lines = [f"{one.program}{state}", *_wrapped(one.claim)]
    for verdict in one.verdicts:
        lines += _wrapped(verdict.text, f"{verdict.verdict}: ")
    if one.reason:
        lines += _wrapped(one.reason, "why: ")
    if one.note:
        lines += _wrapped(one.note, "note: ")
    if one.verdicts:
        lines += _wrapped(one.advice, "advice: ")
    runs = [run for run in one.runs if run.run]
    if runs:
        lines += [f"    run {run.run}  {run.variant}, {run.state}" for run in runs]
    return "\n".join(lines)


def _wrapped(text: str, label: str = "") -> Sequence[str]:
    return textwrap.wrap(
        label + text,
        WIDTH,
        initial_indent="  ",
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _outcome(made: Batch) -> str:
    words = [
        f"{made.count(state)} {state}"
        for state in (batch.DONE, batch.FAILED, batch.REFUSED, batch.STOPPED, batch.WAITING)
        if made.count(state)
    ]
    if not made.items:
        return "every lesson that can be run here has its runs; --again makes them again"
    return f"lessons {made.state}: {', '.join(words)}"
