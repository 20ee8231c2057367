"""Libraries' functions that take a value, or wait, by themselves: their caller's line has no such call."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from app.facts.dialects import DIALECTS
from app.judgments.evidence import HostReadEvidence, Known
from app.views.naming import each, some_of
from probes.trace.hop import IN_GRAPH, LIBRARYS_OWN


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evidence(HostReadEvidence):
    """Of values that Python reads, and of waits."""

    device: Known[str] = None
    """What Python waits for, where no transfer is known."""
    value_on: Known[str] = None
    """Where the value is, if another device makes it."""
    made_by: list[str] | None = None
    """Ops and lines."""
    handed_by: list[str] | None = None
    """Calls that hand the value to Python, and lines."""
    waits_by: list[str] | None = None
    """Calls that wait and read nothing."""
    on_a_gpu: Known[str] = None
    """Where a GPU would have the value."""


_TAKES = frozenset(
    {"numpy", "asnumpy", "asscalar", "asscipy", "item", "tolist", "to_list", "run"}
    | {"waitall", "wait_to_read", "wait_to_write", "sync_devices"}
)
"""Functions that are called to take or to wait: named by what is told of them anyway."""
_MAKING = frozenset({"__init__", "__enter__", "__exit__", "__next__"})
"""Methods that a line calls without their names: the file's name tells whose they are."""
_WRAPPERS = frozenset(name for dialect in DIALECTS for name in dialect.wrappers)
_OWN_LOOPS = tuple(path for dialect in DIALECTS for path in dialect.own_loops)


def functions(vias: Iterable[str | None]) -> list[str]:
    """``while_loop (mxnet/ndarray/contrib.py)``: those that do it; none where the code itself does too."""
    found: dict[str, None] = {}
    for via in vias:
        file, _, name = (via or "").rpartition(":")
        plain = name in _MAKING or not (name.startswith(("_", "<")) or name in _TAKES | _WRAPPERS)
        if not file or not plain or file.startswith(_OWN_LOOPS):
            return []
        found[name if file == "__init__.py" else f"{name} ({file})"] = None
    return list(found)


def by(evidence: Evidence) -> str:
    """``asscalar``, ``asscalar, and waits by wait_to_read, inside toc (mxnet/monitor.py)``: how, in words."""
    told = some_of(each(evidence.taken_by or evidence.kind), "kinds")
    if evidence.waits_by:
        told += f", and waits by {some_of(evidence.waits_by, 'kinds')},"
    inside = evidence.inside
    return f"{told} inside {some_of(inside, 'functions')}" if inside else told.rstrip(",")


def named(kinds: Iterable[str]) -> bool:
    """Whether the library's function is worth a name: what it takes values for is not told already."""
    return not {*kinds} & {*LIBRARYS_OWN, IN_GRAPH}
