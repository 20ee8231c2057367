"""Chains: one tensor that goes A -> B -> A, or A -> host -> B, through ops that only move or reshape it.

A link of a chain is a pair of hops: what the first brought is, unchanged, what the second takes away.
Inside a placed graph the graph's edges say so. Between eager ops the line and type of the op that the
first feeds and the second comes from say so, where each execution of that op was fed by such a hop; and
the recorder itself says which array that Python took is sent to a device again, and which array that is
copied is but what another copy brought.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from app.facts.basis import total
from app.facts.devices import is_host
from app.facts.groups import grouped, summed
from app.facts.tables import Tables
from app.facts.transfers.hops import Hop
from app.facts.transfers.transfer import TINY, Sent, sent
from app.judgments.evidence import TransferEvidence
from probes.trace.rows import Edge, Key, Node


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evidence(TransferEvidence):
    """Of tensors that take the same path."""

    stations: list[str] = dataclasses.field(default_factory=list)
    """Devices, in the order of the path."""
    lines: list[str | None] = dataclasses.field(default_factory=list)
    """Line of each transfer on it."""
    by: list[str] = dataclasses.field(default_factory=list)
    """Ops, or Python, that hand the tensor on."""
    tensors: int = 0
    causes: list[str] = dataclasses.field(default_factory=list)
    """What each transfer would be by itself."""
    further_back_at: list[str | None] | None = None
    """Other lines at which tensors come back."""
    ways: list[list[str]] | None = None
    """Stations of each GPU in turn."""
    gradients_back_at: list[str | None] | None = None
    tensor_again_at: str | None = None
    """Line that makes a tensor of what Python read."""
    scopes: list[str] | None = None

    @property
    def at_one_line(self) -> bool:
        """Whether one line, run for each stop, moves a tensor there and on."""
        lines = list(filter(None, self.lines))
        return len(lines) > 1 and len(set(lines)) == 1


MOVERS = frozenset(
    {
        "Identity",
        "IdentityN",
        "Snapshot",
        "StopGradient",
        "PreventGradient",
        "EnsureShape",
        "DeepCopy",
        "Copy",
    }
    | {"Reshape", "ExpandDims", "Squeeze", "Transpose", "_CopyFromHostToGpu", "_CopyFromGpuToHost"}
    | {
        "_copyto",
        "_copy",
        "_np_copy",
        "reshape",
        "expand_dims",
        "squeeze",
        "transpose",
        "Flatten",
        "BlockGrad",
    }
)
"""Types of ops whose output holds the values of their input and nothing else."""


@dataclasses.dataclass(frozen=True)
class Chain:
    """Hops that one tensor takes one after the other."""

    rows: tuple[int, ...]
    """Rows of the hop table, in the order in which it takes them."""
    stations: tuple[str, ...]
    """The devices that it is on: one more than hops."""
    counts: tuple[int | None, ...]
    """How many of each row's transfers took this way; None where nothing could observe how many it has."""


def chains(tables: Tables, hops: Sequence[Hop]) -> list[Chain]:
    """All chains in which a link goes back to where it came from, or over the host; the longest way each."""
    row_of = {key: row for row, hop in enumerate(hops) for key in hop.keys}
    keys = [key for key in tables.of_kind("hop") if key.count != 0 and key.id in row_of]
    after: dict[int, int] = {}
    came: dict[int, dict[int, int | None]] = {}
    for first, second, part in [
        *_whole(_in_graphs(tables, keys)),
        *_whole(_of_eager_ops(tables, keys)),
        *_over_python(tables, keys),
        *_whole(_moved_on(keys)),
    ]:
        row, then = row_of[first.id], row_of[second.id]
        if row != then and _worth_telling(hops[row], hops[then]) and after.setdefault(row, then) == then:
            came.setdefault(then, {})[part.id] = part.count
    followers = {then: _times(hops[then], total(of_keys.values())) for then, of_keys in came.items()}
    left = dict(followers)
    found = []
    # What went out more often than it came back, or was sent on, went that way so many times only.
    for row in sorted(after, key=lambda row: (-(hops[row].count or 0), row)):
        times = _times(hops[row], left[after[row]])
        if row in followers or times == 0:
            continue
        if (known := left[after[row]]) is not None and times is not None:
            left[after[row]] = known - times
        way = [row]
        while way[-1] in after and after[way[-1]] not in way:
            way.append(after[way[-1]])
        stations = hops[row].src, *(hops[one].dst for one in way)
        found.append(Chain(tuple(way), stations, (times, *(followers[one] for one in way[1:]))))
    return sorted(found, key=lambda chain: chain.rows)


def _times(hop: Hop, most: int | None) -> int | None:
    """How many of a row's transfers there are, at most so many; None where that is not known."""
    return hop.count if hop.count is None or most is None else min(hop.count, most)


def _worth_telling(first: Hop, second: Hop) -> bool:
    """Whether the way by the middle was for nothing: back to the start, or over the host."""
    if first.src == first.dst or second.src == second.dst:
        return False
    if is_host(first.src):
        # What Python has is sent, and taken: neither is a detour of the other. It would be one where nothing
        # on the device used what was sent; but whether an op, a symbol or a kvstore did is asked of no input.
        return False
    return first.src == second.dst or (is_host(first.dst) and not is_host(second.dst))


def _text(key: Key, name: str) -> str:
    value = key.fields.get(name)
    return value if isinstance(value, str) else ""


def _in_graphs(tables: Tables, keys: Sequence[Key]) -> Iterable[tuple[Key, Key]]:
    graphs = grouped((graph, key) for key in keys if (graph := key.fields.get("graph")))
    for graph, members in graphs.items():
        leaving = {_text(key, "src") for key in members}
        if not any(_text(key, "dst") in leaving for key in members):
            continue
        ways = _Ways(tables.nodes_of(graph), tables.edges_of(graph))
        made_by = grouped((_text(key, "producer"), key) for key in members)
        for first in members:
            for name in ways.unchanged(first.fields.get("consumers") or (), _text(first, "dst")):
                for second in made_by.get(name, ()):
                    if _text(second, "src") == _text(first, "dst"):
                        yield first, second


class _Ways:
    """Where a tensor goes in a graph without being changed."""

    def __init__(self, nodes: Iterable[Node], edges: Iterable[Edge]) -> None:
        by_number = {node.node: node for node in nodes}
        self._by_name = {node.name: node for node in by_number.values()}
        # Its first input is what a mover moves; the others say how.
        first = (edge for edge in edges if edge.dst_slot == 0 and edge.dst_node in by_number)
        self._after = grouped((edge.src_node, by_number[edge.dst_node]) for edge in first)

    def unchanged(self, consumers: Iterable[str], device: str) -> list[str]:
        """Names of the ops on `device` that hand on what these take, with nothing else done to it."""
        queue = [self._by_name[name] for name in consumers if name in self._by_name]
        seen: dict[int, str] = {}
        while queue:
            node = queue.pop()
            if node.node in seen or node.op not in MOVERS or node.assigned != device:
                continue
            seen[node.node] = node.name
            queue += self._after.get(node.node, ())
        return list(seen.values())


_TOLD_BY_ARRAY = frozenset({"_copyto", "_np_copyto", "_npi_copyto"})
"""Ops whose recorder says of each array by itself whether it is what they brought: `copied_from`."""
_Place = tuple[str, int, str]
"""An eager op's type, line and device."""


def _of_eager_ops(tables: Tables, keys: Sequence[Key]) -> Iterable[tuple[Key, Key]]:
    fed = grouped((_op_at(key, "dst"), key) for key in _copies(keys) if _text(key, "op") in MOVERS)
    ran = summed((_op_at(op, "device"), op.count) for op in tables.of_kind("op"))
    for second in keys:
        if second.fields.get("graph") or _text(second, "kind") not in ("copy", "pull"):
            continue
        if _text(second, "producer_op") in _TOLD_BY_ARRAY:
            continue
        place = _text(second, "producer_op"), second.fields.get("producer_loc") or 0, _text(second, "src")
        arrived = _data(fed.get(place, ()))
        # Only if all that the op handed on had come over such a hop is it known that this had.
        # A copy that is a method's call (``tensor.cpu()``) has no op, and brings nothing else.
        if place in ran and sum(key.count or 0 for key in arrived) != ran[place]:
            continue
        if len({_text(key, "src") for key in arrived}) == 1:
            for first in arrived:
                if first.fields.get("bytes") == second.fields.get("bytes"):
                    yield first, second


def _op_at(key: Key, device: str) -> _Place:
    return _text(key, "op"), key.fields.get("loc") or 0, _text(key, device)


def _copies(keys: Iterable[Key]) -> Iterator[Key]:
    """Those that eager ops made."""
    return (key for key in keys if not key.fields.get("graph") and _text(key, "kind") == "copy")


def _data(keys: Iterable[Key]) -> list[Key]:
    """Without shapes and axes, which a reshaping op takes beside its tensor."""
    large = [key for key in keys if (key.fields.get("bytes") or 0) > TINY]
    return large or list(keys)


def _over_python(tables: Tables, keys: Sequence[Key]) -> Iterable[tuple[Key, Key, Key]]:
    sent_on = list(_sent_on(tables, keys))
    # Where it was changed at times, it may have gone there to be changed, and came back as it was by chance.
    changed = {_over(tables, one) for one in sent_on if _facts(one.part).get("changed_from")}
    # By line: the frames of the library below it are others where the array is met a second time.
    taken = grouped(
        ((_text(key, "src"), tables.site(key.fields.get("loc")), key.fields.get("bytes")), key)
        for key in keys
        if _text(key, "kind") == "pull"
    )
    for one in sent_on:
        pulled = _facts(one.part).get("pulled_from")
        if isinstance(pulled, str) and one.part.count != 0 and _over(tables, one) not in changed:
            place = pulled, tables.site(one.taken_at), one.transfer.fields.get("bytes")
            for first in taken.get(place, ()):
                yield first, one.transfer, one.part


class _SentOn(NamedTuple):
    """An array that Python took, on its way to a device."""

    transfer: Key
    part: Key
    """What counts those transfers that were of such an array: the transfer itself where all were."""
    taken_at: Any
    """Location."""


def _sent_on(tables: Tables, keys: Sequence[Key]) -> Iterable[_SentOn]:
    arguments: dict[Sent, Key] = {}
    for key in keys:
        if _text(key, "kind") == "upload":
            yield _SentOn(key, key, key.fields.get("producer_loc"))
        elif key.fields.get("pulled_loc"):
            yield _SentOn(key, key, key.fields["pulled_loc"])
        elif _text(key, "kind") == "arg":
            arguments[sent(key.fields)] = key
    for part in tables.of_kind("pulled"):
        transfer = arguments.get(sent(part.fields))
        if transfer is not None:
            yield _SentOn(transfer, part, part.fields.get("pulled_loc"))


def _whole(links: Iterable[tuple[Key, Key]]) -> Iterable[tuple[Key, Key, Key]]:
    return ((first, second, second) for first, second in links)


def _facts(key: Key) -> Mapping[str, Any]:
    facts = key.fields.get("facts")
    return facts if isinstance(facts, Mapping) else {}


def _over(tables: Tables, one: _SentOn) -> tuple[str | None, str | None]:
    """The lines by which an array came to Python and left it."""
    return tables.site(one.taken_at), tables.site(one.transfer.fields.get("loc"))


def _moved_on(keys: Sequence[Key]) -> Iterable[tuple[Key, Key]]:
    names = "src", "dst", "loc", "bytes"
    brought = grouped((tuple(key.fields.get(name) for name in names), key) for key in _copies(keys))
    for second in keys:
        before = _text(second, "copied_from")
        if before and _text(second, "kind") == "copy":
            copied = second.fields.get("copy_loc"), second.fields.get("bytes")
            for first in brought.get((before, _text(second, "src"), *copied), ()):
                yield first, second
