"""The rows of a trace: the vocabulary that the recorders, the store, the analysis and the views share.

Ids are unique within one process's trace; the store makes them unique over a run by adding
``process_index << 32``. Id 0 means none. Times are nanoseconds, sizes bytes.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Optional

FORMAT = "hopscope-trace"
VERSION = 1
DROPPED = "records that found no room"
"""What went unseen of a trace that could not grow."""
EVERYTHING = "anything"
"""What went unseen, where the recorder could not be brought into a framework."""
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
class Location:
    """A place in the source: the innermost user frame, and the library frame below it."""

    id: int
    site: str
    """Path relative to the script's folder and line: ``train.py:31``."""
    via: Optional[str]
    file: str
    """Absolute path."""
    line: int
    function: str


@dataclasses.dataclass(frozen=True)
class Graph:
    """One instantiation of a traced function: ops with the devices the runtime chose for them."""

    id: int
    name: str
    """For people: the Python function's name."""
    function: str
    """The runtime's name, ``__inference_step_38``."""
    loc: int
    """First call."""
    step_marks: int
    """Optimizer applications in one call."""
    partial: Optional[str]
    """Why something in it could not be seen; None when all was."""
    calls: int = 0
    """Executions so far, filled by the store."""


@dataclasses.dataclass(frozen=True)
class Node:
    """One op of a placed graph; `op` is ``_Arg`` or ``_Retval`` for the call's inputs and outputs."""

    graph: int
    node: int
    name: str
    op: str
    requested: str
    """Device that the code asked for, '' when it asked for none."""
    assigned: str
    loc: int
    forward_loc: int


@dataclasses.dataclass(frozen=True)
class Edge:
    """A tensor that one op of a graph hands to another, on any devices."""

    graph: int
    src_node: int
    src_slot: int
    dst_node: int
    dst_slot: int
    bytes: Optional[int]
    dtype: str
    shape: str
    """``64x256``; unknown extents as ``?``; '' for a scalar."""


@dataclasses.dataclass(frozen=True)
class Key:
    """All that is constant over the repeated events of one thing, with how often it happened.

    `kind` is op, call, hop, collective, sync, memory, mark or node; `fields` are that kind's fields,
    as the trace format lists them (probes/trace/writer.py).
    """

    id: int
    kind: str
    fields: dict[str, Any]
    count: Optional[int]
    """Executions in the whole run so far; None when nothing could observe them."""


@dataclasses.dataclass(frozen=True)
class Event:
    """Something that happened at a time; `count` > 1 where executions were counted together."""

    process: int
    kind: str
    ts_ns: int
    dur_ns: int
    key: int
    count: int
    step: Optional[int]
    value: Optional[int]
    thread: int


@dataclasses.dataclass(frozen=True)
class Unseen:
    """What the recorder knows that it could not see, how often, and why."""

    what: str
    count: int
    why: str
