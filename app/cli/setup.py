"""`setup`: install the frameworks' environments now."""

from __future__ import annotations

import difflib

from app.cli.output import print_json, say, tell
from app.cli.parser import Parser, add_json
from app.console_progress import ConsoleProgress
from runners.environments import environments
from runners.environments.environments import Environment
from runners.environments.frameworks import FRAMEWORKS
from runners.errors import HopscopeError, UsageError

SUMMARY = "install the frameworks' environments now"


def add_arguments(parser: Parser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "--framework", metavar="F", help=f"only this one: {' or '.join(FRAMEWORKS)} (default: all)"
    )
    parser.add_argument(
        "--locked",
        action="store_true",
        help="only the wheels that were locked, their hashes checked, the dashboard's own environment too",
    )
    parser.add_argument("--build", choices=("cpu", "gpu"), help="which build (default: as NVML says)")
    add_json(parser)


def execute(arguments: list[str], parser: Parser) -> int:
    """Install what is missing."""
    args = parser.parse(arguments)
    if args.framework is not None and args.framework not in FRAMEWORKS:
        alike = difflib.get_close_matches(args.framework, FRAMEWORKS, n=1)
        hint = f"did you mean {alike[0]}?" if alike else f"there is {', '.join(FRAMEWORKS)}"
        raise UsageError(f"there is no framework {args.framework!r}; {hint}")
    names = [args.framework] if args.framework else list(FRAMEWORKS)
    done, failed = [], False
    for name in names:
        try:
            done.append(make_ready(name, args.build, args.locked))
        except UsageError:
            raise
        except HopscopeError as error:
            # One that cannot be had does not keep the others from being made.
            tell(str(error))
            done.append(environments.environment(name))
            failed = True
    if args.json:
        print_json({"environments": [_described(one) for one in done]})
    else:
        for one in done:
            if one.state == "ready":
                said = ["locked"] * args.locked + [one.reason] * bool(one.reason)
                note = f" ({'; '.join(map(str, said))})" if said else ""
                say(f"{one.name}: {one.state}, {one.build} build in {one.path}{note}")
    return 1 if failed else 0


def _described(one: Environment) -> dict[str, str | None]:
    return {
        "name": one.name,
        "state": one.state,
        "reason": one.reason,
        "build": one.build,
        "path": str(one.path),
    }


def make_ready(framework: str, build: str | None = None, locked: bool = False) -> Environment:
    """Return the framework's environment, installed first where it is not ready, with progress lines."""
    now = environments.environment(framework)
    if now.state == "ready" and build in (None, now.build) and not locked:
        return now
    environments.refuse_useless(framework, build)
    with ConsoleProgress(f"Installing {FRAMEWORKS[framework].title} in {now.path} (once)") as console:
        return environments.install(framework, build, console.tell, locked)
