"""Decides which variables are replicas of each other, and when they are to be compared.

Towers written by hand are several variables, made at one line, of one shape and type, on a device each;
equal before the first update, and updated at one line by gradients of their own. Told apart from them are:

- targets, averages and shadows, which get no gradients;
- models of other initial values, and layers of one model, whose gradients are computed together;
- models that are trained one after the other, or with other settings, such as folds and searches;
- models that something else is assigned to meanwhile, or that are equal again after some steps: what is
  averaged every so many steps drifts in between, on purpose.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Optional

from .drift import Compared, compare

BY_THEN = 8
"""Updates after which those that exchange nothing differ by more than rounding, which goes on growing."""
_MOST_KEPT = 8


class Copy:
    """A parameter on one device."""

    __slots__ = (
        "device",
        "name",
        "optimizer",
        "parameter",
        "read",
        "restarts",
        "trained",
        "updates",
        "values",
    )

    def __init__(self, device: str, name: str, parameter: Parameter, read: Callable[[], Any]) -> None:
        """`read` gives its first elements now, None where it can't, or where it is gone."""
        self.device = device
        self.name = name
        self.parameter = parameter
        self.read = read
        self.trained = False
        """Its gradient was asked for."""
        self.restarts = 0
        """How often it got other values after it was looked at, and before its first update."""
        self.updates = 0
        self.optimizer: Any = None
        self.values: dict[int, Any] = {}
        """What it held, by updates so far; 0 is before the first."""

    def keep(self) -> None:
        """Keep what it holds now."""
        self.values[self.updates] = self.read()
        if len(self.values) > _MOST_KEPT:
            del self.values[sorted(self.values)[1]]  # not how it began


class Parameter:
    """What may be one parameter, on several devices."""

    __slots__ = ("copies", "last", "made", "over", "replicas", "shape", "switches", "threads")

    def __init__(self, made: int, shape: str) -> None:
        """`made` is the line that made it."""
        self.made = made
        self.shape = shape
        self.copies: dict[str, Copy] = {}
        self.replicas: Optional[ReplicaSet] = None
        self.over = False
        """It is known to be none, or nobody knows how it began."""
        self.switches = 0
        """How often another copy was updated than the last time."""
        self.last: Optional[Copy] = None
        self.threads: set[int] = set()

    def takes(self, device: str) -> bool:
        """Whether a variable made now, on this device, may be another copy of it."""
        return device not in self.copies and all(not copy.updates for copy in self.copies.values())

    @property
    def label(self) -> str:
        """Its variables' names and shape."""
        names = list(dict.fromkeys(copy.name for copy in self.copies.values() if copy.name))
        names[1:] = names[1:] if len(names) < 3 else [f"{len(names) - 1} others"]
        shape = f"of shape {self.shape}" if self.shape else "a scalar"
        return f"{' and '.join(names) or 'a variable'}, {shape}"

    def updated(self, copy: Copy) -> None:
        """One of its copies was."""
        copy.updates += 1
        self.switches += self.last is not None and self.last is not copy
        self.last = copy
        self.threads.add(threading.get_ident())

    def everywhere(self) -> bool:
        """Whether all copies are updated."""
        return all(copy.updates for copy in self.copies.values())

    def side_by_side(self, updates: int) -> bool:
        """Whether its copies are updated in turn, or in threads of their own, not one after the other."""
        return self.switches >= updates or len(self.threads) > 1

    def values(self, updates: int) -> Optional[list[Any]]:
        """What its copies held after so many updates; None where that is not known of all."""
        values = [copy.values.get(updates) for copy in self.copies.values()]
        return None if any(value is None for value in values) else values


def due(updates: int) -> bool:
    """Whether values are wanted after so many updates: 1, 2, 4, 8 and so on."""
    return not updates & (updates - 1)


_ALONG = 1e-4
_OTHER_RATE = 0.05


def _scaled(members: Sequence[tuple[Any, Any]]) -> bool:
    """Whether the first updates only differ by a factor: of one batch, at other rates.

    `members` has of each parameter its copies' values before the first update, and after it.
    """
    import numpy

    found = []
    for tower in range(min(len(before) for before, _ in members)):
        parts = [(after[tower].astype("float64") - before[tower]).ravel() for before, after in members]
        found.append(numpy.concatenate(parts))
    first, lengths = found[0], [float(numpy.linalg.norm(one)) for one in found]
    if first.size < 2 or not all(lengths):
        return False
    along = [float(first @ one) / (lengths[0] * length) for one, length in zip(found, lengths)]
    rates = [abs(length / lengths[0] - 1) for length in lengths]
    return min(along) > 1 - _ALONG and max(rates) > _OTHER_RATE


Tell = Callable[[Compared, int], None]
"""Called with a comparison, and after how many updates of each replica it was."""


class ReplicaSet:
    """The parameters that one line updates on the same devices."""

    def __init__(self, loc: int, tell: Tell, alike: Callable[[Any, Any], bool]) -> None:
        """`alike` says whether two optimizers have the same settings."""
        self.loc = loc
        self.parameters: dict[int, Parameter] = {}
        self.over = False
        self.told = False
        """A comparison was told."""
        self._tell = tell
        self._alike = alike
        self._differed: list[int] = []

    def reached(self, updates: int) -> None:
        """A copy was kept after so many updates: compare where that was the last one of all."""
        # After the first update it is not known yet which parameters there are.
        if updates < 2:
            return
        members = [one for one in self.parameters.values() if not one.over and one.everywhere()]
        held = [(one, one.values(updates)) for one in members]
        if not held or any(values is None for _, values in held):
            return
        if not self.told and not self._began_equal(members, updates):
            return
        if not self.told:
            self._compare([(one, one.values(1)) for one in members], 1)
        self._compare(held, updates)
        for one in members:
            for copy in one.copies.values():
                copy.values = {known: value for known, value in copy.values.items() if known > updates}

    def _began_equal(self, members: list[Parameter], updates: int) -> bool:
        """Whether these are replicas, as far as is known by now."""
        if not all(one.side_by_side(updates) for one in members):
            return False
        anchored = False
        for one in members:
            values = one.values(0)
            if values is None or one.values(1) is None:
                self.over = True
                return False
            equal = all(value.tobytes() == values[0].tobytes() for value in values)
            constant = all(not value.size or bool((value == value[0]).all()) for value in values)
            anchored = anchored or (equal and not constant)
            optimizers = [copy.optimizer for copy in one.copies.values()]
            alike = all(self._alike(optimizers[0], optimizer) for optimizer in optimizers[1:])
            self.over = self.over or not equal or not alike
        self.over = self.over or not anchored or _scaled([(one.values(0), one.values(1)) for one in members])
        return not self.over

    def _compare(self, held: list[tuple[Parameter, Any]], updates: int) -> None:
        found = compare((one.label, values) for one, values in held)
        found.made = list(dict.fromkeys([held[found.place][0].made, *(one.made for one, _ in held)]))
        if found.differs:
            self._differed.append(updates)
            self.over = updates > BY_THEN and self._differed == [updates]
            if self.over:
                return
        else:
            self.over = bool(self._differed)  # equal again: they do exchange something
        self.told = True
        self._tell(found, updates)
