"""The rows of a trace: the vocabulary that the recorders, the store, the analysis and the views share.

Rows are the records of schema.py, with what only a reader knows. Ids are unique within one process's trace;
the store makes them unique over a run by adding ``process_index << 32``. Id 0 means none. Times are
nanoseconds, sizes bytes.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Optional

from . import schema
from .schema import FORMAT, VERSION, Edge, Location, Node, Unseen

__all__ = [
    "BETWEEN_WINDOWS",
    "BY_XLA",
    "DROPPED",
    "EVERYTHING",
    "FORMAT",
    "RUNTIMES_GRAPHS",
    "VERSION",
    "Edge",
    "Event",
    "Graph",
    "Key",
    "Location",
    "Node",
    "Process",
    "Unseen",
]
DROPPED = "records that found no room"
"""What went unseen of a trace that could not grow."""
EVERYTHING = "anything"
"""What went unseen, where the recorder could not be brought into a framework."""
BETWEEN_WINDOWS = "eager ops, reads and transfers of the steps between recording windows"
"""What went unseen, where that is no gap: other steps, which did the same, stand for these."""
RUNTIMES_GRAPHS = "placed graphs"
"""What went unseen, where that were graphs that belong to no function of the program."""
BY_XLA = "compiled by XLA (jit_compile): ops have no placement of their own"
"""How the reason begins for which the ops of a function were not seen that XLA took whole."""


@dataclasses.dataclass(frozen=True)
class Process:
    """One recorded process: its header with the facts that became known later merged in."""

    index: int
    pid: int
    name: str
    """The trace file's name without its ending."""
    framework: Optional[str]
    framework_version: Optional[str]
    role: Optional[str]
    rank: Optional[int]
    wall_ns: int
    """Wall clock at the header; an event's wall time is ``wall_ns + ts``."""
    mono_ns: int
    devices: list[str]
    device_map: dict[str, dict[str, Any]]
    ended: bool
    """The process said goodbye; false while it runs and when it was killed."""
    header: dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Graph(schema.Graph):
    """A graph, with how often it ran."""

    calls: int = 0
    """Executions so far, filled by the store."""


@dataclasses.dataclass(frozen=True)
class Key(schema.Key):
    """A key, with how often it happened."""

    count: Optional[int]
    """Executions in the whole run so far; None when nothing could observe them."""


@dataclasses.dataclass(frozen=True)
class Event(schema.Event):
    """An event of one of a run's processes."""

    process: int
    """Index of the process."""
