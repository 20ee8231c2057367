"""What the placement diagram is drawn from: lanes of groups, and the crossings between lanes.

The analysis makes these from a run's rows (app/diagram/grouping.py); the view turns them into the
component's data and looks at nothing else. Ids are stable while a run grows and over expansion, so a
drawing can keep the reader's place. Bytes are bytes, counts are executions in the whole run so far.
"""

from __future__ import annotations

import dataclasses

EAGER = "eager"
"""The pseudo graph that holds the ops which ran one by one, outside any traced function."""


@dataclasses.dataclass(frozen=True)
class Member:
    """One op inside a group, as much of it as the details panel shows."""

    id: int
    """Node number in its graph; for eager ops the key's id."""
    name: str
    op: str
    requested: str
    """'' when the code asked for no device."""
    assigned: str
    site: str | None
    forward_site: str | None = None
    basis: str = "measured"
    """inferred where the op follows from others and was not itself seen to run."""


@dataclasses.dataclass(frozen=True)
class Group:
    """Ops of one name scope on one device, drawn as one bar; or a series of equal such groups."""

    id: str
    """``<graph>|<device>|<scope>``; a series ends in ``[1..24]``."""
    label: str
    """Last part of the scope, with ``x24`` for a series; the op's name for a single op."""
    scope: str
    """Full scope path, parts joined by ``/``; '' is the graph's top level."""
    device: str
    """Assigned device; one of the lanes."""
    ops: int
    """Number of distinct ops in it (``_Arg`` and ``_Retval`` not counted)."""
    op_histogram: tuple[tuple[str, int], ...]
    """(op type, number), most frequent first."""
    rank: int
    """Longest path to here over the drawn groups, 0-based: the x position."""
    hops: int
    """How many rows of the hop table start or end in it: the badge."""
    expandable: bool
    """Its scope has sub-scopes or several ops that `expanded` would show."""
    expanded: bool
    """It stands for a scope that was opened: only what is left directly in it."""
    kind: str
    """``scope``, ``series`` (folded equal blocks), ``op`` (one op), ``input`` (the call's arguments) or
    ``output`` (its results)."""
    site: str | None
    """The most frequent source line in it."""
    members: tuple[Member, ...] = ()
    """At most 50 of its ops; `ops` says how many there are."""
    member_ids: tuple[int, ...] = ()
    """Node numbers of all its ops (joins to sampled op times); for eager ops the key ids."""
    device_histogram: tuple[tuple[str, int], ...] = ()
    """(device, ops) of the whole scope over all lanes, most first: the bar inside a collapsed group."""
    series: tuple[str, ...] = ()
    """The scopes folded into it when `kind` is series."""
    graph: str = ""
    """Id of the drawn graph it belongs to, `EAGER` for eager ops."""
    expand: str = ""
    """What to add to `expanded` to open it; '' when it can't be opened."""


@dataclasses.dataclass(frozen=True)
class Crossing:
    """Transfers from one group to another on another device (or memory), merged into one arrow."""

    id: str
    """``<src_group>><dst_group>``."""
    src_group: str
    dst_group: str
    src_device: str
    dst_device: str
    bytes_total: int | None
    """Bytes of the whole run; None when some transfer's size or count is not known."""
    count: int | None
    """Transfers in the whole run; None when some count is not known."""
    hops: tuple[int, ...]
    """Row numbers in the hop table."""
    cause: str
    """Cause code of the most severe hop in it."""
    severity: str
    """error, warning or info: the worst in it."""
    tensors: tuple[str, ...]
    """Names of at most 5 of the tensors, largest first."""
    bytes_known: int = 0
    """What of the bytes is known, a lower bound when `bytes_total` is None."""
    basis: str = "inferred"
    """Basis of the bytes: the weakest of the hops'."""
    collective: str = ""
    """What a collective that no hop stands for is: ``all-reduce · ring``; its bytes are this pair's share."""
    payload: int | None = None
    """Bytes that each device contributes to one execution of the collective."""
    site: str | None = None
    """Source line of the collective."""


@dataclasses.dataclass(frozen=True)
class Link:
    """A dependency between two groups that crosses nothing: drawn only when a group is selected."""

    src_group: str
    dst_group: str
    edges: int


@dataclasses.dataclass(frozen=True)
class Lane:
    """One device's swimlane; the host comes last."""

    device: str
    stand_in: bool
    groups: tuple[str, ...]
    """Ids of its groups by rank."""
    ops: int = 0
    """Distinct ops on the device in what is drawn."""
    elsewhere: bool = False
    """None of its ops is drawn: they are in other graphs."""


@dataclasses.dataclass(frozen=True)
class GraphChoice:
    """One graph that can be drawn."""

    id: str
    """Number as text, or `EAGER`."""
    name: str
    ops: int
    calls: int
    partial: str | None = None
    function: str = ""
    """The function it is a trace of, where `name` tells traces apart."""


@dataclasses.dataclass(frozen=True)
class Diagram:
    """A whole placement diagram: at most about 300 groups and 150 crossings."""

    lanes: tuple[Lane, ...]
    groups: tuple[Group, ...]
    crossings: tuple[Crossing, ...]
    depth: int
    """Number of scope parts that groups are made of."""
    hidden: int
    """Ops that no drawn group stands for (0 when all are drawn)."""
    truncated_note: str = ""
    """One sentence for people on what was merged or left out, '' when nothing was."""
    links: tuple[Link, ...] = ()
    ranks: int = 1
    """Number of x positions: 1 + the largest rank."""
    graphs: tuple[GraphChoice, ...] = ()
    """All graphs of the run, so that the page can offer them."""
    drawn: tuple[str, ...] = ()
    """Ids of the graphs in this diagram."""
    idle: tuple[str, ...] = ()
    """Devices that ran no op in the whole run: they have no lane."""
