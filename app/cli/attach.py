"""`attach`: what a shell needs so that every Python it starts is recorded."""

from __future__ import annotations

import os
import re
import secrets
import shlex
import sys

from app.cli.output import tell
from app.cli.parser import Parser
from probes.attach.attached import VARIABLE
from runners.plan.plan import INJECT
from runners.runs.registry import home

SUMMARY = 'attach the recorder where a shell or a scheduler starts Python: eval "$(.. attach)"'


def add_arguments(parser: Parser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--env", action="store_true", help="print the variables (it does in any case)")
    parser.add_argument(
        "--name", metavar="NAME", default="", help="what the runs are called (default: as the script)"
    )
    parser.add_argument("--off", action="store_true", help="print what takes the recorder away again")


def execute(arguments: list[str], parser: Parser) -> int:
    """Print lines for a POSIX shell to take."""
    args = parser.parse(arguments)
    if args.off:
        print(_off())
    else:
        # The digits keep two jobs of one name apart that run at the same time.
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", args.name).strip("-")
        print(f"export {VARIABLE}={shlex.quote(f'{name}+{secrets.token_hex(3)}')}")
        print(f"export HOPSCOPE_HOME={shlex.quote(str(home()))}")
        # What the shell has by then stays behind it.
        print(f'export PYTHONPATH={shlex.quote(str(INJECT))}"${{PYTHONPATH:+:$PYTHONPATH}}"')
    if sys.stdout.isatty():
        tell('for a shell to take: eval "$(python3 -m app attach)", or paste it into a job\'s script')
    return 0


def _off() -> str:
    kept = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry != str(INJECT)]
    rest = os.pathsep.join(kept)
    path = f"export PYTHONPATH={shlex.quote(rest)}" if rest else "unset PYTHONPATH"
    return f"unset {VARIABLE}\n{path}"
