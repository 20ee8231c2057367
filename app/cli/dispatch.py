"""From words on the command line to the command that carries them out."""

from __future__ import annotations

from typing import Protocol

from app.cli import (
    attach,
    demo,
    devices,
    lessons,
    preflight,
    programs,
    report,
    rm,
    run,
    runs,
    serve,
    setup,
    stop,
    token,
)
from app.cli.output import drop_output, tell
from app.cli.parser import Parser
from runners.catalogue import did_you_mean
from runners.errors import HopscopeError, UsageError
from runners.runs import registry
from runners.version import VERSION

INTERRUPTED = 130


class Command(Protocol):
    """What each command's module offers."""

    SUMMARY: str
    """One line of the list of commands."""

    def add_arguments(self, parser: Parser) -> None:
        """Declare the command's arguments."""

    def execute(self, arguments: list[str], parser: Parser) -> int:
        """Do it and return the exit status."""


COMMANDS: dict[str, Command] = {
    "serve": serve,
    "token": token,
    "devices": devices,
    "programs": programs,
    "demo": demo,
    "lessons": lessons,
    "run": run,
    "preflight": preflight,
    "attach": attach,
    "runs": runs,
    "stop": stop,
    "rm": rm,
    "report": report,
    "setup": setup,
}


def main(argv: list[str]) -> int:
    """Carry out the command in `argv`, which lacks the program's name; return the exit status.

    A wrong request is told in one line on standard error, with status 2; other failures with status 1.
    """
    try:
        return _dispatch(argv)
    except HopscopeError as error:
        tell(str(error))
        return 2 if isinstance(error, UsageError) else 1
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        drop_output()  # whoever read it has enough
        return 1


def _dispatch(argv: list[str]) -> int:
    if argv and argv[0] in ("-h", "--help", "help"):
        print(_overview())
        return 0
    if argv and argv[0] in ("-V", "--version"):
        print(f"hopscope {VERSION}")
        return 0
    # Without a command it serves, with serve's options.
    name = "serve" if not argv or argv[0].startswith("-") else argv[0]
    if name not in COMMANDS:
        hint = did_you_mean(name, COMMANDS) or f"; there is {', '.join(COMMANDS)}"
        raise UsageError(f"there is no command {name!r}{hint}")
    rest = argv[1:] if argv and argv[0] == name else argv
    command = COMMANDS[name]
    parser = Parser(prog=f"python3 -m app {name}", description=command.SUMMARY)
    command.add_arguments(parser)
    for line in registry.close_to_others():
        tell(line)
    return command.execute(rest, parser)


def _overview() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {command.SUMMARY}" for name, command in COMMANDS.items()]
    return "\n".join(
        [
            "usage: python3 -m app [COMMAND] [..]",
            "",
            *lines,
            "",
            "Without a command it serves. python3 -m app COMMAND --help tells the rest.",
        ]
    )
