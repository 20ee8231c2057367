"""What a line moves the same way in every step, in some of them of another op's making.

A recurrent network's states are the last step's, and the first ones of each sequence come from elsewhere:
neither is of every step by itself, and both together are.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence

from app.facts.frequency.iterations import taken_by
from app.store.paces import Pace, Paces
from probes.trace.rows import Key

_Way = tuple[object, ...]


class Instead:
    """The transfers of eager lines by where they go, whatever made what is moved."""

    def __init__(self, keys: Sequence[Key], paces: Paces, site_of: Callable[[Key], str]) -> None:
        """`paces` are those of the run's steps."""
        self._keys = keys
        self._paces = paces
        self._site_of = site_of
        self._known: dict[_Way, float] = {}

    def each(self, keys: Sequence[Key], count: int) -> float:
        """How often in a step, on the average, these do it `count` times, as a part of what all do in each.

        0 where they do not stand in for others, nor others for them.
        """
        ways = {self._way(key) for key in keys}
        way = next(iter(ways), None)
        if len(ways) != 1 or way is None or len(self._of_way.get(way, ())) <= len(keys):
            return 0.0
        if way not in self._known:
            self._known[way] = self._each_of_one(self._of_way[way])
        return self._known[way] * count

    def _each_of_one(self, keys: Sequence[Key]) -> float:
        """Times in each step for one of all executions; 0 where it is not the same number in each step."""
        paces = [self._paces.of(key) for key in keys]
        known = [pace for pace in paces if pace is not None]
        if len(known) < len(paces) or any(map(_in_each_step, known)):
            return 0.0
        together = functools.reduce(Pace.and_, known)
        times = round(together.within / together.seen) if together.seen else 0
        # The last of the steps that are looked at may be cut.
        if not times or not _in_each_step(together) or abs(together.within - times * together.seen) > times:
            return 0.0
        return times / (sum(key.count or 0 for key in keys) or 1)

    @functools.cached_property
    def _of_way(self) -> Mapping[_Way, list[Key]]:
        found: dict[_Way, list[Key]] = {}
        for key in self._keys:
            if (way := self._way(key)) is not None and key.count:
                found.setdefault(way, []).append(key)
        return found

    def _way(self, key: Key) -> _Way | None:
        if key.kind != "hop" or key.fields.get("graph"):
            return None
        same = (key.fields.get(name) for name in ("kind", "src", "dst", "op", "bytes"))
        return (key.id >> 32, self._site_of(key), *same, taken_by(key))


def _in_each_step(pace: Pace) -> bool:
    return pace.seen > 0 and (pace.mask & ((1 << pace.seen) - 1)).bit_count() == pace.seen
