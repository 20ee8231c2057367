"""`programs`: the catalogue."""

from __future__ import annotations

from typing import Any

from app.cli.output import print_json
from app.cli.parser import Parser, add_json
from runners.catalogue import PROGRAMS, Option, Program

SUMMARY = "list the training programs with their options"


def add_arguments(parser: Parser) -> None:
    """Declare the command's arguments."""
    add_json(parser)


def execute(arguments: list[str], parser: Parser) -> int:
    """Print the catalogue."""
    if parser.parse(arguments).json:
        print_json({"programs": [_describe(program) for program in PROGRAMS.values()]})
    else:
        print("\n\n".join(_text(program) for program in PROGRAMS.values()))
    return 0


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
