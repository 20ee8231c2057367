"""`demo`: a catalogued program, recorded."""

from __future__ import annotations

from app.cli.attend import attend, planned
from app.cli.parser import Parser, add_launch_options, option_value, whole_number
from runners.catalogue import Value
from runners.errors import UsageError
from runners.plan.launcher import Plan, plan_program
from runners.plan.plan import LaunchOptions

SUMMARY = "run a training program of the catalogue, recorded"


def add_arguments(parser: Parser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("program", metavar="PROGRAM", help="its name; python3 -m app programs lists them")
    parser.add_argument(
        "--stand-ins", type=whole_number, metavar="N", help="cpu:1 to cpu:N play GPUs on the host"
    )
    parser.add_argument("--steps", type=whole_number, metavar="N", help="training steps (default: 100)")
    parser.add_argument(
        "--set",
        type=option_value,
        action="append",
        default=[],
        metavar="OPTION=VALUE",
        help="an option of the program; may be given several times",
    )
    parser.add_argument(
        "--resume",
        metavar="RUN",
        help="go on from the last checkpoint of this run, with its devices, steps and options",
    )
    add_launch_options(parser, "cpu:1 for a stand-in")


def execute(arguments: list[str], parser: Parser) -> int:
    """Run the program to its end and return its own exit status."""
    args = parser.parse(arguments)
    options: dict[str, Value] = {}
    for name, value in args.set:
        if name in options:
            raise UsageError(f"--set {name}=.. is given twice")
        options[name] = value

    def plan() -> Plan:
        return plan_program(
            args.program,
            devices=args.devices,
            stand_ins=args.stand_ins,
            steps=args.steps,
            options=options,
            launch=LaunchOptions(
                python=args.python, share=args.share, record=not args.no_record, exact=args.exact
            ),
            resume=args.resume,
        )

    return attend(planned(plan), as_json=args.json)
