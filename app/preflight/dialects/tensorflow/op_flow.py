"""What a pre-flight noted: ops, and what each took from which other (probes/tf/dataflow.py writes it)."""

from __future__ import annotations

import dataclasses
import functools
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

PYTHON = -1
"""The maker of what Python or numpy data became."""
HANDLES = frozenset({"resource", "variant"})
_BITS = {"bool": 8, "complex64": 64, "complex128": 128}
_NUMBER = re.compile(r"(?:q?u?int|b?float)(\d+)")


@dataclasses.dataclass(frozen=True)
class Tensor:
    """A tensor's type and extents, as far as known."""

    dtype: str
    shape: tuple[int | None, ...] | None

    @property
    def bytes(self) -> int | None:
        """Its size; None where an extent is not known or the type has no fixed size."""
        bits = _BITS.get(self.dtype)
        if bits is None:
            number = _NUMBER.match(self.dtype)
            bits = max(8, int(number[1])) if number else 0  # int4 takes a byte, too
        if not bits or self.shape is None or None in self.shape:
            return None
        return math.prod(extent or 0 for extent in self.shape) * bits // 8

    @classmethod
    def of(cls, data: Sequence[Any]) -> Tensor:
        """Made of [type's name, extents]."""
        dtype, shape = data
        return cls(str(dtype), None if shape is None else tuple(shape))


@dataclasses.dataclass(frozen=True)
class Taken:
    """A record's input, as one of its makers made it."""

    slot: int
    maker: int
    """A record's number, or PYTHON."""
    output: int
    tensor: Tensor
    before: tuple[int, ...]
    """The records that had taken this very tensor before."""
    count: int
    early: int
    """How often of these up to the end of the first step."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Op:
    """An op as the code made it."""

    name: str
    """In its function; a variable's."""
    op: str
    types: Mapping[str, Any]
    requested: str
    loc: int
    forward_loc: int
    forward_requested: str
    outputs: Sequence[Tensor]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Record(Op):
    """An op, or the call of a function, at a line outside of functions."""

    number: int
    inputs: tuple[Taken, ...]
    count: int
    early: int
    function: str
    """The function that is called; '' for an op."""
    beside: int | None = None
    """The record beside whose output it is to be kept."""

    @functools.cached_property
    def by_slot(self) -> dict[int, Taken]:
        """What it takes, of each slot the first."""
        return {one.slot: one for one in reversed(self.inputs)}


Source = tuple[int, int]
"""(op's number, output)."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Node(Op):
    """An op of a function."""

    inputs: list[Source]
    calls: Mapping[str, Sequence[str]] = dataclasses.field(default_factory=dict)
    """The functions that it runs, by attribute."""
    beside: Sequence[str] = ()
    """The ops that it is to be kept beside."""
    within: str = ""
    """'' or loop or branch: how often it runs is not known then."""


@dataclasses.dataclass(frozen=True)
class Function:
    """A traced function before it was placed."""

    label: str
    compiled: bool
    nodes: tuple[Node, ...]
    arguments: tuple[int, ...]
    results: tuple[Source, ...]
    shapes: Mapping[str, Tensor]
    """``scope/op:0`` -> what ran, where tracing left extents open."""


@dataclasses.dataclass(frozen=True)
class Pull:
    """Python took a tensor's value at a line."""

    kind: str
    loc: int
    maker: int
    output: int
    tensor: Tensor
    count: int
    early: int


@dataclasses.dataclass(frozen=True)
class Remark:
    """What a prediction depends on, at a line."""

    what: str
    loc: int
    count: int
    facts: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Flow:
    """All of one process."""

    pid: int
    kernels: str
    """Whose kernel registry the process had."""
    has_gpu_kernels: bool
    steps: int
    """Whole steps after the first; 0 for a script without steps, or with no other."""
    steps_made: int
    """All whole steps."""
    sites: Mapping[int, tuple[str, str | None]]
    """Location -> (``train.py:31``, the library's frame below)."""
    records: tuple[Record, ...]
    functions: Mapping[str, Function]
    pulls: tuple[Pull, ...]
    remarks: tuple[Remark, ...]
    left_out: int

    def site(self, loc: int) -> str | None:
        """``train.py:31``; None for a location that was not noted."""
        return self.sites[loc][0] if loc in self.sites else None


def parse_flow(data: Mapping[str, Any]) -> Flow:
    """The notes of a process; KeyError, TypeError or ValueError where they are not what they should be."""
    return Flow(
        pid=int(data["pid"]),
        kernels=str(data["kernels"]),
        has_gpu_kernels=bool(data["has_gpu_kernels"]),
        steps=int(data["steps"] or 0),
        steps_made=int(data.get("steps_made") or 0),
        sites={int(number): (str(site), via) for number, (site, via) in data["sites"].items()},
        records=tuple(_record(number, one) for number, one in enumerate(data["records"])),
        functions={name: _function(one) for name, one in data["functions"].items()},
        pulls=tuple(_pull(one) for one in data["pulls"]),
        remarks=tuple(
            Remark(str(one["what"]), int(one["loc"] or 0), int(one["count"]), dict(one.get("facts") or {}))
            for one in data["notes"]
        ),
        left_out=int(data["left_out"]),
    )


def _op(data: Mapping[str, Any]) -> dict[str, Any]:
    """What records and nodes have in common."""
    return {
        "name": data.get("name") or "",
        "op": data["op"],
        "types": data["types"],
        "requested": data["requested"],
        "loc": data["loc"] or 0,
        "forward_loc": data["forward"][0] or 0,
        "forward_requested": data["forward"][1],
        "outputs": tuple(map(Tensor.of, data["outputs"])),
    }


def _record(number: int, data: Mapping[str, Any]) -> Record:
    inputs = tuple(
        Taken(slot, maker, output, Tensor.of(tensor), tuple(before), count, early)
        for slot, maker, output, tensor, before, count, early in data["inputs"]
    )
    own = {name: data[name] for name in ("count", "early", "function")}
    return Record(number=number, inputs=inputs, beside=data.get("beside"), **own, **_op(data))


def _function(data: Mapping[str, Any]) -> Function:
    return Function(
        label=data["label"],
        compiled=data["compiled"],
        nodes=tuple(map(_node, data["nodes"])),
        arguments=tuple(data["arguments"]),
        results=tuple((node, output) for node, output in data["results"]),
        shapes={where: Tensor.of(tensor) for where, tensor in data["shapes"].items()},
    )


def _node(data: Mapping[str, Any]) -> Node:
    inputs = [(node, output) for node, output in data["inputs"]]
    return Node(inputs=inputs, calls=data["calls"], beside=data["beside"], **_op(data))


def _pull(data: Mapping[str, Any]) -> Pull:
    maker, output = data["from"]
    tensor = Tensor.of(data["tensor"])
    return Pull(data["kind"], data["loc"] or 0, maker, output, tensor, data["count"], data["early"])
