"""The sets of replicas that a recording knows, and what is written of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import drift
from .recording import Recording, clock
from .replica_sets import Parameter, ReplicaSet


class ToldSets:
    """By the line that updates them and the devices that they are on."""

    def __init__(self, recording: Recording, settings: Callable[[Any], Any]) -> None:
        """`settings` gives what two optimizers must have alike for their parameters to be replicas."""
        self._recording = recording
        self._settings = settings
        self._sets: dict[tuple[int, tuple[str, ...]], ReplicaSet] = {}

    def join(self, parameter: Parameter, loc: int) -> ReplicaSet:
        """The set that a parameter belongs to which is updated at the location `loc`."""
        place = loc, tuple(sorted(parameter.copies))
        group = self._sets.get(place)
        if group is None:

            def tell(found: drift.Compared, updates: int) -> None:
                drift.write(self._recording, found, clock(), _fields(made), updates)

            group = made = self._sets[place] = ReplicaSet(loc, tell, self._alike)
        group.parameters[id(parameter)] = parameter
        parameter.replicas = group
        return group

    def leave(self, parameter: Parameter) -> None:
        """Something else than its gradients reached a parameter: it and its set are no replicas, nor were."""
        parameter.over = True
        group = parameter.replicas
        if group is not None:
            group.over = True
            if group.told:
                drift.event(self._recording, "assigned", 1, clock(), _fields(group))

    def _alike(self, first: Any, second: Any) -> bool:
        """Whether two optimizers, None where none is known, have the same settings."""
        return first is second or (
            first is not None and second is not None and self._settings(first) == self._settings(second)
        )


def _fields(group: ReplicaSet) -> dict[str, Any]:
    first = next(iter(group.parameters.values()))
    return {
        "devices": list(first.copies),
        "exchange": None,
        "loc": group.loc,
        "made_loc": 0,
        "variables_loc": first.made,
    }
