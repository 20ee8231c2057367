"""What the reader looks at on a run's page, kept in the address so that a link shows a colleague the same."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Self
from urllib.parse import urlencode

_PAIR_MARK = ">"
_ONE_FILTER = ("pair", "group", "crossing", "finding", "line")


@dataclasses.dataclass(frozen=True)
class RunAddress:
    """The state of a run's page; empty fields mean nothing is chosen. At most one filter is set."""

    run: str = ""
    pair: tuple[str, str] | None = None
    """A cell of the matrix: (source, destination)."""
    group: str = ""
    """A group of the placement diagram."""
    crossing: str = ""
    """A crossing of the placement diagram."""
    finding: str = ""
    line: str = ""
    """A line of the source: ``train.py:31``."""
    hop: int | None = None
    """A row of the hop table, picked beside whatever filter is set."""
    graphs: tuple[str, ...] = ()
    """What the diagram draws; nothing: what executed most ops."""
    opened: tuple[str, ...] = ()
    """Scopes that were opened in the diagram."""
    file: str = ""
    """The file whose source is shown, as sites name it; nothing: that of the line, else the script."""
    verify: str = ""
    """The finding whose fix is tried: ``code@site``."""
    window: tuple[float, float] | None = None
    """Stretch of the timeline, seconds since the run's start."""

    @classmethod
    def read(cls, query: Mapping[str, Sequence[str]]) -> Self:
        """From an address's query; what is not understood is left out."""
        return cls(
            run=_one(query, "run"),
            pair=_pair(_one(query, "pair")),
            group=_one(query, "group"),
            crossing=_one(query, "crossing"),
            finding=_one(query, "finding"),
            line=_one(query, "line"),
            hop=_whole(_one(query, "hop")),
            graphs=tuple(query.get("graph", ())),
            opened=tuple(query.get("open", ())),
            file=_one(query, "file"),
            verify=_one(query, "verify"),
            window=_window(_one(query, "t")),
        )

    @staticmethod
    def names() -> tuple[str, ...]:
        """All names that may stand in the address."""
        return (
            *("run", "pair", "group", "crossing", "finding", "line"),
            *("hop", "graph", "open", "file", "verify", "t"),
        )

    def query(self) -> dict[str, list[str]]:
        """What stands in the address: only what is chosen."""
        values = {
            "run": [self.run],
            "pair": [_PAIR_MARK.join(self.pair)] if self.pair else [],
            "group": [self.group],
            "crossing": [self.crossing],
            "finding": [self.finding],
            "line": [self.line],
            "hop": [] if self.hop is None else [str(self.hop)],
            "graph": list(self.graphs),
            "open": list(self.opened),
            "file": [self.file],
            "verify": [self.verify],
            "t": [] if self.window is None else [f"{self.window[0]:.6g}-{self.window[1]:.6g}"],
        }
        kept = {name: [item for item in items if item] for name, items in values.items()}
        return {name: items for name, items in kept.items() if items}

    def link(self, tab: str = "") -> str:
        """The address on this server; `tab` is the one in front, '' for the first."""
        shown = {"tab": [tab]} if tab else {}
        return f"/run?{urlencode(self.query() | shown, doseq=True)}"

    @property
    def filtered(self) -> bool:
        """Whether anything narrows down what is shown."""
        return any(getattr(self, name) for name in _ONE_FILTER) or self.hop is not None

    def with_filter(
        self,
        *,
        pair: tuple[str, str] | None = None,
        group: str = "",
        crossing: str = "",
        finding: str = "",
        line: str = "",
    ) -> Self:
        """The same page with this filter in place of any other; with none of them, without a filter."""
        return dataclasses.replace(
            self, pair=pair, group=group, crossing=crossing, finding=finding, line=line, hop=None
        )

    def with_opened(self, expand: str, opened: bool) -> Self:
        """The same page with a scope of the diagram opened, or closed together with what is in it."""
        kept = tuple(
            name for name in self.opened if name != expand and (opened or not name.startswith(f"{expand}/"))
        )
        return dataclasses.replace(self, opened=(*kept, expand) if opened else kept)


def _one(query: Mapping[str, Sequence[str]], name: str) -> str:
    values = query.get(name) or ("",)
    return values[-1]


def _pair(text: str) -> tuple[str, str] | None:
    src, mark, dst = text.partition(_PAIR_MARK)
    return (src, dst) if mark and src and dst else None


def _whole(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def _window(text: str) -> tuple[float, float] | None:
    """``0.5-1.25``; an end may be in scientific notation."""
    for at, letter in enumerate(text):
        if letter != "-" or text[at - 1 : at] in ("", "e"):
            continue
        try:
            t0, t1 = float(text[:at]), float(text[at + 1 :])
        except ValueError:
            return None
        return (t0, t1) if 0 <= t0 < t1 and math.isfinite(t1) else None
    return None
