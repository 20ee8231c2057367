"""What a run starts, as a shell would take it: its variables, its folder, its command or its processes."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from runners.printable import printable
from runners.supervise.members import Member, Stage

Variables = Mapping[str, str | None]
"""Changes of an environment; None removes a variable."""


def command_text(env: Variables, cwd: str, command: Sequence[str], stages: Sequence[Stage] = ()) -> str:
    """What is started; `command` where there are no stages.

    What all processes of the run have in common stands once, before them.
    """
    everybody = [member for stage in stages for member in stage.members]
    common = shared_variables(everybody) if len(everybody) > 1 else {}
    lines = [_export(name, value) for name, value in sorted({**env, **common}.items())]
    if cwd:
        lines.append(f"cd {_quoted(cwd)}")
    if not stages:
        lines.append(_joined(command) if command else "?")
    for stage in stages:
        if len(stages) > 1:
            lines += ["", printable(f"# stage {stage.name}" + (f": {stage.note}" if stage.note else ""))]
        for member in stage.members:
            lines += _process(member, common, several=len(stage.members) > 1)
    return "\n".join(lines)


def shared_variables(members: Sequence[Member]) -> dict[str, str | None]:
    """The variables that all of these processes have, with one value."""
    first, *others = [member.variables() for member in members]
    return {
        name: value
        for name, value in first.items()
        if all(name in other and other[name] == value for other in others)
    }


def _process(member: Member, common: Variables, several: bool) -> list[str]:
    own = {name: value for name, value in member.variables().items() if name not in common}
    words = [f"-u {_quoted(name)}" for name, value in sorted(own.items()) if value is None]
    # Only env can take a variable away for one command.
    before = ["env", *words] if words else []
    before += [
        f"{_quoted(name)}={_quoted(value)}" for name, value in sorted(own.items()) if value is not None
    ]
    line = " ".join([*before, _joined(member.command)])
    return ["", printable(f"# {member.name}"), f"{line} &"] if several else [line]


def _export(name: str, value: str | None) -> str:
    return f"unset {_quoted(name)}" if value is None else f"export {_quoted(name)}={_quoted(value)}"


def _joined(words: Sequence[str]) -> str:
    return " ".join(map(_quoted, words))


def _quoted(word: str) -> str:
    """Return a word as a shell reads it, on one line: what does not print is spelled out, ``$'a\\nb'``."""
    if word.isprintable():
        return shlex.quote(word)
    plain = word.replace("\\", "\\\\").replace("'", "\\'")
    return f"$'{printable(plain)}'"
