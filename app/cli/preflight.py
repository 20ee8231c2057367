"""`preflight`: some steps of a script without a GPU, and what it would do on a machine that has some."""

from __future__ import annotations

import dataclasses

from app.cli.attend import attend_quietly, exit_status, planned
from app.cli.output import print_json, say, tell
from app.cli.parser import Parser, add_json, natural_number, seconds, whole_number
from app.cli.run import split
from runners.catalogue import did_you_mean
from runners.errors import UsageError
from runners.plan.launcher import Plan
from runners.plan.plan import FRAMEWORK_NAMES, LaunchOptions
from runners.plan.preflight_plan import SECONDS, STEPS, Extent, plan_preflight

SUMMARY = "foresee, without a GPU, what a script would do on one: preflight -- train.py"


def add_arguments(parser: Parser) -> None:
    """Declare the command's arguments."""
    parser.usage = (
        "python3 -m app preflight [options] -- SCRIPT ARGS  |  preflight [options] -- -m MODULE ARGS"
    )
    parser.add_argument(
        "--steps",
        type=whole_number,
        default=STEPS,
        metavar="N",
        help=f"steps after the first (default: {STEPS})",
    )
    parser.add_argument(
        "--gpus",
        type=natural_number,
        default=0,
        metavar="N",
        help="GPUs of that machine (default: 0, as many as the script names, at least 1)",
    )
    parser.add_argument(
        "--seconds",
        type=seconds,
        default=SECONDS,
        metavar="S",
        help=f"end the script after as many seconds in any case (default: {SECONDS:g})",
    )
    parser.add_argument("--framework", metavar="F", help=f"{' or '.join(FRAMEWORK_NAMES)}")
    parser.add_argument("--python", metavar="EXE", help="interpreter to use instead of the framework's own")
    parser.add_argument("--notes", action="store_true", help="with the findings that need no change")
    add_json(parser)


def execute(arguments: list[str], parser: Parser) -> int:
    """Run the steps, print what they foresee, and return the script's own exit status."""
    own, words = split(arguments, ("--steps", "--gpus", "--seconds", "--framework", "--python"))
    args = parser.parse(own)
    if args.framework is not None and args.framework not in FRAMEWORK_NAMES:
        hint = did_you_mean(args.framework, FRAMEWORK_NAMES) or f"; there is {' and '.join(FRAMEWORK_NAMES)}"
        raise UsageError(f"there is no framework {args.framework!r}{hint}")
    module = words[:1] == ["-m"]
    if not words[module:]:
        what = "no module is named behind -m; write preflight -- -m package.module"
        raise UsageError(what if module else "no script is named; write preflight -- train.py --epochs 3")
    from app.facts.kernels.kernel_table import shipped_table

    def plan() -> Plan:
        made = plan_preflight(
            words[1:] if module else words,
            extent=Extent(
                steps=args.steps, gpus=args.gpus, seconds=args.seconds, kernels=shipped_table().source
            ),
            framework=args.framework,
            launch=LaunchOptions(python=args.python),
            module=module,
        )
        return dataclasses.replace(made, notes=[])

    run = attend_quietly(planned(plan))
    from app.reports.prediction_report import preflight_report, render_preflight

    report = preflight_report(run.path)
    if args.json:
        print_json(report)
    else:
        say(render_preflight(report, "" if args.notes else f"python3 -m app report {run.id} --notes"))
    tell(f"python3 -m app report {run.id} tells this again, and what it did here")
    return exit_status(run)
