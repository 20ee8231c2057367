"""Follows the variables of one recording that may be replicas: what is made, what updates it, what is told.

Which sets of them are replicas, replica_sets.py decides. How a framework makes variables and writes to them
is its recorder's to know.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from . import drift
from .recording import Recording, clock
from .replica_sets import Copy, Parameter, ReplicaSet, due
from .schema import ReplicaFields

_MOST_WAITING = 512


class Towers:
    """The parameters by where they were made, and their sets by the line and devices that update them."""

    def __init__(self, recording: Recording, settings: Callable[[Any], Any]) -> None:
        """`settings` gives what two optimizers must have alike for their parameters to be replicas."""
        self.lock = threading.RLock()
        """Held while copies are added to a parameter, and while a set is compared."""
        self._recording = recording
        self._settings = settings
        self._made: dict[tuple[int, str, str], list[Parameter]] = {}
        self._sets: dict[tuple[int, tuple[str, ...]], ReplicaSet] = {}

    def made(self, loc: int, shape: str, dtype: str, device: str, name: str, read: Callable[[], Any]) -> Copy:
        """A variable was made at a line: a copy of what was made there alike on other devices, or the first.

        `read` gives its first elements at any time, None where it is gone.
        """
        with self.lock:
            alike = self._made.setdefault((loc, shape, dtype), [])
            parameter = next((one for one in alike if one.takes(device)), None)
            if parameter is None:
                parameter = Parameter(loc, shape)
                alike.append(parameter)
                del alike[:-_MOST_WAITING]
            copy = parameter.copies[device] = Copy(device, name, parameter, read)
        return copy

    def together(self, devices: frozenset[str]) -> None:
        """One loss depends on what these devices computed: what they have are parts of one model."""
        for alike in self._made.values():
            for parameter in alike:
                parameter.over |= len(devices & parameter.copies.keys()) > 1

    def wrote(self, copy: Copy, update: bool, loc: int, optimizer: Any = None) -> bool:
        """A copy got new values: by an update at `loc`, of `optimizer` where one is known, or any others.

        True where it begins anew with them, so that what it held before is forgotten.
        """
        parameter = copy.parameter
        group = parameter.replicas
        if len(parameter.copies) < 2 or parameter.over or (group is not None and group.over):
            return False
        if not update or (group is not None and group.loc != loc):
            return self._assigned(copy)
        if 0 not in copy.values and not copy.updates:
            parameter.over = True  # nobody knows how it began
            return False
        copy.optimizer = optimizer or copy.optimizer
        with self.lock:
            group = parameter.replicas or self._join(parameter, loc)
            parameter.updated(copy)
        if due(copy.updates):
            copy.keep()
            with self.lock:
                group.reached(copy.updates)
        return False

    def _assigned(self, copy: Copy) -> bool:
        """Something else than its gradients reached a copy."""
        if copy.updates:
            self._leave(copy.parameter)
            return False
        began = bool(copy.values)
        copy.values.clear()
        return began

    def _join(self, parameter: Parameter, loc: int) -> ReplicaSet:
        """The set that a parameter belongs to which is updated at the location `loc`."""
        place = loc, tuple(sorted(parameter.copies))
        group = self._sets.get(place)
        if group is None:

            def tell(found: drift.Compared, updates: int) -> None:
                drift.write(self._recording, found, clock(), _fields(made, found.made), updates)

            group = made = self._sets[place] = ReplicaSet(loc, tell, self._alike)
        group.parameters[id(parameter)] = parameter
        parameter.replicas = group
        return group

    def _leave(self, parameter: Parameter) -> None:
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


def _fields(group: ReplicaSet, made: Sequence[int] = ()) -> ReplicaFields:
    """`made`: the lines that made what was compared, the worst one's first."""
    first = next(iter(group.parameters.values()))
    return {
        "devices": list(first.copies),
        "exchange": None,
        "loc": group.loc,
        "made_loc": 0,
        "variables_locs": list(made or [first.made]),
    }
