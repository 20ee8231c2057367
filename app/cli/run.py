"""`run`: any script or module, unmodified and recorded."""

from __future__ import annotations

from collections.abc import Sequence

from app.cli.attend import attend, planned
from app.cli.parser import Parser, add_launch_options
from runners.catalogue import did_you_mean
from runners.errors import UsageError
from runners.plan.launcher import Plan, plan_script
from runners.plan.plan import FRAMEWORK_NAMES, LaunchOptions

TAKES_VALUE = ("--framework", "--devices", "--python")
SUMMARY = "run any script or module as it is, recorded: run -- train.py --epochs 3"


def add_arguments(parser: Parser) -> None:
    """Declare the command's arguments."""
    parser.usage = "python3 -m app run [options] -- SCRIPT ARGS  |  run [options] -- -m MODULE ARGS"
    parser.add_argument(
        "--framework",
        metavar="F",
        help=f"{' or '.join(FRAMEWORK_NAMES)} (default: the one that the script imports)",
    )
    add_launch_options(parser, "cpu:0 for no GPU")


def execute(arguments: list[str], parser: Parser) -> int:
    """Run the script to its end and return its own exit status."""
    own, words = split(arguments, TAKES_VALUE)
    args = parser.parse(own)
    if args.framework is not None and args.framework not in FRAMEWORK_NAMES:
        hint = did_you_mean(args.framework, FRAMEWORK_NAMES) or f"; there is {' and '.join(FRAMEWORK_NAMES)}"
        raise UsageError(f"there is no framework {args.framework!r}{hint}")
    module = words[:1] == ["-m"]
    if module:
        words = words[1:]
        if not words:
            raise UsageError("no module is named behind -m; write run -- -m package.module")

    def plan() -> Plan:
        return plan_script(
            words,
            framework=args.framework,
            devices=args.devices,
            launch=LaunchOptions(
                python=args.python, share=args.share, record=not args.no_record, exact=args.exact
            ),
            module=module,
        )

    return attend(planned(plan), as_json=args.json)


def split(arguments: list[str], takes_value: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return our own words and the script's: it begins behind `--`, or with the first bare word.

    `takes_value` are our options that have the next word for their value.
    """
    at = 0
    while at < len(arguments):
        word = arguments[at]
        if word == "--":
            return arguments[:at], arguments[at + 1 :]
        if not word.startswith("-") or word == "-m":
            return arguments[:at], arguments[at:]
        at += 2 if word in takes_value else 1
    return arguments, []
