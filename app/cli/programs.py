"""`programs`: the catalogue."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from app.cli.output import print_json, say, tell
from app.cli.parser import Parser, add_json
from runners.catalogue import PROGRAMS, Option, Program, program
from runners.errors import HopscopeError, UsageError
from runners.export.one_file import companions, one_file, write

SUMMARY = "list the training programs with their options, or print one as a file that runs alone"


def add_arguments(parser: Parser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("program", nargs="?", metavar="PROGRAM", help="only this one")
    parser.add_argument(
        "--source",
        action="store_true",
        help="print the program as one file, which needs its framework and numpy and nothing else",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FOLDER",
        help="with --source: write it there, and beside it the digits that it trains on",
    )
    add_json(parser)


def execute(arguments: list[str], parser: Parser) -> int:
    """Print the catalogue, or a program's source."""
    args = parser.parse(arguments)
    chosen = [program(args.program)] if args.program else list(PROGRAMS.values())
    if args.output is not None and not args.source:
        raise UsageError("-o goes with --source")
    if args.source:
        if not args.program:
            raise UsageError("--source prints one program: name it, as in programs tf-mirrored --source")
        if args.json:
            raise UsageError(
                "--source prints a Python file, and --json one JSON object: leave one of them out"
            )
        _hand_over(args.program, args.output)
    elif args.json:
        print_json({"programs": [_describe(program) for program in chosen]})
    else:
        say("\n\n".join(_text(program) for program in chosen))
    return 0


def _hand_over(name: str, folder: Path | None) -> None:
    """Print the file, or write it to a folder with what it needs beside it."""
    if folder is not None:
        try:
            written = write(name, folder)
        except OSError as error:
            raise HopscopeError(f"{folder} cannot be written to: {error.strerror or error}") from error
        say("\n".join(map(str, written)))
        return
    print(one_file(name), end="")
    if beside := companions(name):
        # The digits are no text, so they are none of what is printed.
        tell(f"it reads {beside[0].name} beside it, or scikit-learn's; -o FOLDER writes both")


def _describe(program: Program) -> dict[str, Any]:
    return {
        "name": program.name,
        "title": program.title,
        "framework": program.framework,
        "summary": program.summary,
        "claim": program.claim,
        "min_devices": program.min_devices,
        "max_devices": program.max_devices,
        "options": [
            {
                "name": option.name,
                "type": option.type,
                "default": option.default,
                "values": list(option.values) if option.values else None,
                "help": option.help,
            }
            for option in program.options
        ],
    }


def _text(program: Program) -> str:
    lines = [f"{program.name}  ({program.framework})", f"  {program.summary}"]
    return "\n".join([*lines, *(f"    {_choice(option):<42} {option.help}" for option in program.options)])


def _choice(option: Option) -> str:
    if option.values is None:
        return f"{option.name}={'..' if option.default is None else option.default}"
    shown = [f"[{value}]" if value == option.default else value for value in option.values]
    text = f"{option.name}={'|'.join(shown)}"
    return text if len(text) <= 42 else f"{text}\n    {'':<42}"
