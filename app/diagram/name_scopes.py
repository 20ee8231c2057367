"""Name scopes as a tree: how deep to cut it, and which sibling scopes are one block repeated."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Collection, Iterable, Mapping, Sequence

MIN_SERIES = 4
"""Equal blocks in a row that are worth folding into one."""

Path = tuple[str, ...]
_NUMBERED = re.compile(r"(.*?)_?(\d+)")
_COUNTER = re.compile(r"_\d+$")


@dataclasses.dataclass(frozen=True)
class Item:
    """One op, as much of it as grouping needs."""

    id: int
    path: Path
    """Its scopes and its own name."""
    op: str
    device: str


@dataclasses.dataclass(frozen=True)
class Series:
    """Sibling blocks that are equal, named as one: ``layer_[1..24]``."""

    name: str
    members: tuple[str, ...]


@dataclasses.dataclass
class _Scope:
    scopes: dict[str, _Scope] = dataclasses.field(default_factory=dict)
    ops: int = 0
    content: int = 0
    """Sum of the hashes of what all ops in it are: equal for equal blocks, whatever their order."""


def find_series(items: Iterable[Item]) -> dict[Path, Series]:
    """For each scope (or op) that belongs to a series, by its full path, the series.

    Equal means: the same ops on the same devices under the same names, but for counters; and numbered in
    a row, as layer_1 to layer_24 are.
    """
    root = _Scope()
    for item in items:
        _put(root, item)
    found: dict[Path, Series] = {}
    stack: list[tuple[Path, _Scope]] = [((), root)]
    while stack:
        path, scope = stack.pop()
        for series in _among(scope):
            for name in series.members:
                found[(*path, name)] = series
        stack += [((*path, name), child) for name, child in scope.scopes.items()]
    return found


def _put(root: _Scope, item: Item) -> None:
    below = tuple([_plain(part) for part in item.path])
    scope = root
    for depth, part in enumerate(item.path, 1):
        child = scope.scopes.get(part)
        if child is None:
            child = scope.scopes[part] = _Scope()
        scope = child
        scope.ops += 1
        scope.content += hash((below[depth:], item.op, item.device))


@functools.lru_cache(1 << 16)
def _plain(part: str) -> str:
    """A name without its counter: ``MatMul_12`` -> ``MatMul``."""
    return _COUNTER.sub("", part)


def _among(scope: _Scope) -> list[Series]:
    """The series among a scope's children."""
    stems: dict[str, list[tuple[int, str]]] = {}
    for name in scope.scopes:
        match = _NUMBERED.fullmatch(name)
        stem, number = (match[1], int(match[2])) if match else (name, 0)
        stems.setdefault(stem, []).append((number, name))
    found = []
    for stem, blocks in stems.items():
        blocks.sort()
        run: list[tuple[int, str]] = []
        for number, name in [*blocks, (-1, "")]:
            if (
                run
                and name
                and _equal(scope.scopes[name], scope.scopes[run[-1][1]])
                and number - run[-1][0] <= 1
            ):
                run.append((number, name))
                continue
            if len(run) >= MIN_SERIES:
                title = f"{stem}_[{run[0][0]}..{run[-1][0]}]"
                found.append(Series(title, tuple(name for _, name in run)))
            run = [(number, name)]
    return found


def _equal(one: _Scope, other: _Scope) -> bool:
    return one.ops == other.ops and one.content == other.content


class Cut:
    """Where the tree is cut: each op's group is its path down to there.

    `opened` holds paths that are shown one level further; an opened series shows its members.
    """

    def __init__(self, depth: int, series: Mapping[Path, Series], opened: Collection[Path] = ()) -> None:
        self.depth = depth
        self.series = series
        self.opened = frozenset(opened)

    def group(self, path: Path) -> Path:
        """The path of the group that an op with this path belongs to."""
        if not self.series and not self.opened:
            return path[: self.depth]
        shown: Path = ()
        for level, part in enumerate(path):
            if level >= self.depth and shown not in self.opened:
                break
            series = self.series.get(path[: level + 1])
            folded = (*shown, series.name) if series is not None else None
            shown = (*shown, part) if folded is None or folded in self.opened else folded
        return shown


def choose_depth(items: Sequence[Item], most: int) -> tuple[int, dict[Path, Series]]:
    """Depth of the deepest cut with at most `most` groups, and the series to fold for it (maybe none)."""
    deepest = max((len(item.path) for item in items), default=1)
    series: dict[Path, Series] = {}
    folded: list[Path] = []
    for depth in range(deepest, 0, -1):
        if len({(item.path[:depth], item.device) for item in items}) <= most:
            return depth, {}
        if not folded:
            series = find_series(items)
            whole = Cut(deepest, series)
            folded = [whole.group(item.path) for item in items]
        groups = {(path[:depth], item.device) for path, item in zip(folded, items, strict=True)}
        if len(groups) <= most:
            return depth, series
    return 1, series
