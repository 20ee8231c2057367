"""How a program's processes are made, where it is several: roles, how many of each, what tells them apart."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence

from runners.supervise.members import Member

Counts = Mapping[str, int]
"""How many processes each role has."""
Variables = Callable[[str, int, Counts], dict[str, str | None]]
"""From a process's role, its rank and all counts to its environment; values may hold `<port:NAME>`."""


@dataclasses.dataclass(frozen=True)
class Role:
    """Processes that do the same."""

    name: str
    option: str | None = None
    """The program's option that says how many there are; None: one."""
    serves: bool = False
    """Ends once those that do not serve have ended."""
    endless: bool = False
    """Serves, but has to be ended then."""
    arguments: tuple[str, ...] | None = None
    """What the interpreter runs; None: the program's own script, with its options."""
    computes: bool = True
    """Whether it has the run's devices, where it runs the script; else it has the host alone."""


@dataclasses.dataclass(frozen=True)
class Cluster:
    """The processes of a program, all on this machine."""

    roles: tuple[Role, ...]
    """In the order in which they are started."""
    variables: Variables
    listens: str
    """On which addresses its processes take orders without a password, as a part of a sentence."""
    time_limit: str
    """The program's option that says after how many seconds all of them are ended."""
    own_gpus: bool = False
    """Whether its processes sum over GPUs by NCCL, which takes no GPU that two of them share."""
    coordinated: bool = False
    """Whether one of them hands out whole steps, each to one of those that compute."""

    @property
    def warning(self) -> str:
        """What its user must know before it starts."""
        return (
            f"While it runs, its processes listen on {self.listens} without a password:"
            " whoever reaches them can run code as you."
        )

    @property
    def options(self) -> frozenset[str]:
        """The program's options that are the launcher's business and not the script's."""
        return frozenset({self.time_limit, *(role.option for role in self.roles if role.option)})

    def counts(self, options: Mapping[str, object]) -> dict[str, int]:
        """Return how many processes each role has by these options."""
        return {role.name: _number(options[role.option]) if role.option else 1 for role in self.roles}

    def trainers(self, options: Mapping[str, object]) -> list[str]:
        """Return the names, `worker:0`, of the processes that have the run's devices."""
        counts = self.counts(options)
        own = [role.name for role in self.roles if role.arguments is None and role.computes]
        return [f"{name}:{rank}" for name in own for rank in range(counts[name])]

    def limit_s(self, options: Mapping[str, object]) -> float:
        """Return the time limit, seconds."""
        return float(_number(options[self.time_limit]))

    def members(
        self,
        options: Mapping[str, object],
        python: str,
        script: Callable[[str | None], tuple[Sequence[str], Mapping[str, str | None]]],
    ) -> tuple[Member, ...]:
        """Return all processes.

        `script` gives, for a name out of `trainers`, the words behind the interpreter and what its devices
        change in its environment, and for None those of a process that has none of them.
        """
        counts = self.counts(options)
        made = []
        for role in self.roles:
            for rank in range(counts[role.name]):
                trains = role.arguments is None and role.computes
                words, devices = script(f"{role.name}:{rank}" if trains else None)
                made.append(
                    Member(
                        name=f"{role.name}-{rank}" if role.option else role.name,
                        command=[python, *(words if role.arguments is None else role.arguments)],
                        env={**self.variables(role.name, rank, counts), **devices},
                        role=role.name,
                        rank=rank,
                        serves=role.serves,
                        endless=role.endless,
                    )
                )
        return tuple(made)


def _number(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(f"{value!r} is no number of processes")
    return value
