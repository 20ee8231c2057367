"""What a run starts: stages one after the other, each with one or more processes at once, its members.

A run without stages is one command. Stages stand in spec.json as the launcher planned them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from runners.errors import HopscopeError

ROLE_VARIABLE = "HOPSCOPE_ROLE"
RANK_VARIABLE = "HOPSCOPE_RANK"
ONLY_STAGE = "run"
"""The name of the stage where there is one."""
ONLY_MEMBER = "program"


@dataclasses.dataclass(frozen=True)
class Member:
    """One process of a stage, of which all that it forks is a part."""

    name: str
    """Unique in its stage; stands before each line that it prints where there are several: worker-0."""
    command: list[str]
    env: dict[str, str | None] = dataclasses.field(default_factory=dict)
    """What is changed for it beyond what is changed for the whole run; None removes a variable."""
    role: str | None = None
    rank: int | None = None
    serves: bool = False
    """Ends when the members that do not serve have ended, as a parameter server does."""
    endless: bool = False
    """Serves, and never ends by itself: it is asked to as soon as nobody is left to serve."""

    def variables(self) -> dict[str, str | None]:
        """Return its changes of the environment, its role and rank among them."""
        known: dict[str, str | None] = {} if self.role is None else {ROLE_VARIABLE: self.role}
        if self.rank is not None:
            known[RANK_VARIABLE] = str(self.rank)
        return known | self.env

    def texts(self) -> list[str]:
        """Return the words of its command and the values of its variables."""
        return [*self.command, *(value for value in self.env.values() if value is not None)]

    def filled(self, fill: Callable[[str], str]) -> Member:
        """Return it with each of its texts as `fill` gives it back."""
        env = {name: value if value is None else fill(value) for name, value in self.env.items()}
        return dataclasses.replace(self, command=[fill(word) for word in self.command], env=env)

    def as_json(self) -> dict[str, Any]:
        """Return it as it stands in spec.json."""
        return dataclasses.asdict(self)


@dataclasses.dataclass(frozen=True)
class Stage:
    """Members that run at once. The next stage begins when all of them have ended with status 0."""

    name: str
    members: tuple[Member, ...]
    note: str | None = None
    """What the log says when it begins."""

    def filled(self, fill: Callable[[str], str]) -> Stage:
        """Return it with each text of its members as `fill` gives it back."""
        return dataclasses.replace(self, members=tuple(member.filled(fill) for member in self.members))

    def as_json(self) -> dict[str, Any]:
        """Return it as it stands in spec.json."""
        members = [member.as_json() for member in self.members]
        return {"name": self.name, "note": self.note, "members": members}


def read_stages(spec: Mapping[str, Any]) -> list[Stage]:
    """Return a run's stages, that of its one command where it names none.

    HopscopeError where the spec does not say what to run.
    """
    try:
        listed = spec.get("stages") or [{"name": ONLY_STAGE, "members": [{"command": spec["command"]}]}]
        stages = [_stage(entry) for entry in listed]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        words = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise HopscopeError(f"spec.json is damaged: {words}") from None
    if not all(stage.members for stage in stages):
        raise HopscopeError("spec.json is damaged: a stage has no members")
    return stages


def _stage(entry: Mapping[str, Any]) -> Stage:
    return Stage(str(entry["name"]), tuple(map(_member, entry["members"])), entry.get("note"))


def _member(entry: Mapping[str, Any]) -> Member:
    if isinstance(entry["command"], str):
        raise ValueError("a command is one text, not a list of words")
    return Member(
        name=str(entry.get("name") or ONLY_MEMBER),
        command=[str(word) for word in entry["command"]],
        env=dict(entry.get("env") or {}),
        role=entry.get("role"),
        rank=entry.get("rank"),
        serves=bool(entry.get("serves")),
        endless=bool(entry.get("endless")),
    )
