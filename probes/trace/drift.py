"""Compares replicas of a model's parameters, and writes what came of it: the same for every framework."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any, Optional, cast

from .recording import Recording, clock
from .schema import DriftFields, ReplicaFields

MOST_ELEMENTS = 4096
"""Of a parameter, the first ones: replicas that drift do so in all of them."""
ROUNDING = 1e-6
"""Relative differences up to here may be rounding: single precision has 6e-8."""
_PARTS = 1_000_000_000


@dataclasses.dataclass
class Compared:
    """What a comparison found."""

    parameters: int = 0
    """How many were compared."""
    differing: int = 0
    """How many of them are not equal bit for bit in all replicas."""
    apart: float = 0.0
    """The largest difference."""
    which: Optional[str] = None
    """The parameter that has it."""
    place: int = 0
    """Its place among them; 0 where none differs."""
    made: Sequence[int] = ()
    """The lines that made them, that of the parameter with the largest difference first."""
    scale: float = 0.0
    """The largest value of all: a bias that starts at zero would be 100 % apart at once."""

    @property
    def relative(self) -> float:
        """The largest difference in relation to the largest value of all."""
        return self.apart / self.scale if self.scale else 0.0

    @property
    def differs(self) -> bool:
        """Whether the replicas differ by more than rounding."""
        return self.relative > ROUNDING


def compare(parameters: Iterable[tuple[str, Sequence[Any]]]) -> Compared:
    """Compares (name, its values in each replica); values are numpy arrays, None where they can't be read."""
    found = Compared()
    for place, (name, values) in enumerate(parameters):
        found.parameters += 1
        if any(value is None for value in values):
            continue
        found.scale = max(found.scale, *map(largest, values))
        apart = max(_apart(values[0], value) for value in values[1:])
        found.differing += apart > 0
        if apart > found.apart:
            found.apart, found.which, found.place = apart, name, place
    return found


def write(
    recording: Recording, found: Compared, start: int, replicas: ReplicaFields, updates: int = 0
) -> None:
    """Write a comparison that began at `start`; `replicas` says of which, and at which line.

    `updates` is how many each replica had applied, where steps don't tell.
    """
    parts = min(round(found.relative * _PARTS), 1 << 62)
    figures = [("differing", found.differing), ("largest_ppb", parts)]
    for what, value in [*figures, ("updates", updates)] if updates else figures:
        event(recording, what, value, start, replicas, found)


def event(
    recording: Recording,
    what: str,
    value: int,
    start: int,
    replicas: ReplicaFields,
    found: Optional[Compared] = None,
) -> None:
    """Write one figure of a comparison, or another thing that is known of the same replicas."""
    if found is None:
        fields = cast(DriftFields, {"what": what, **replicas, "basis": "measured"})
    else:
        fields = {
            "what": what,
            **replicas,
            "parameters": found.parameters,
            "parameter": found.which,
            "basis": "measured",
        }
    key = recording.key(("drift", str(fields)), "drift", fields, counted=False)
    recording.kept_counts[key] += 1
    recording.event("drift", start, clock() - start, key, 1, value)


def _apart(first: Any, second: Any) -> float:
    """The largest difference of two values; 0 where all bits are equal, or where one is not finite."""
    if first.tobytes() == second.tobytes():
        return 0.0
    return largest(first.astype("float64") - second.astype("float64"))


def largest(values: Any) -> float:
    """The largest absolute value; 0 of none, and where one is not finite."""
    import numpy

    found = float(numpy.max(numpy.abs(values.astype("float64")), initial=0.0))
    return found if numpy.isfinite(found) else 0.0
