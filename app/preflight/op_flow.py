"""What a pre-flight noted: ops, and what each took from which other (probes/tf/dataflow.py writes it)."""

from __future__ import annotations

import dataclasses
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


@dataclasses.dataclass(frozen=True)
class Record:
    """An op, or the call of a function, at a line outside of functions."""

    number: int
    op: str
    types: Mapping[str, Any]
    requested: str
    loc: int
    forward_loc: int
    forward_requested: str
    inputs: tuple[Taken, ...]
    outputs: tuple[Tensor, ...]
    count: int
    early: int
    function: str
    """The function that is called; '' for an op."""
    name: str
    """A variable's."""
    beside: int | None = None
    """The record beside whose output it is to be kept."""


@dataclasses.dataclass(frozen=True)
class Node:
    """An op of a function as the code made it."""

    name: str
    op: str
    requested: str
    loc: int
    forward_loc: int
    forward_requested: str
    types: Mapping[str, Any]
    inputs: tuple[tuple[int, int], ...]
    """(node's number, output)."""
    outputs: tuple[Tensor, ...]
    calls: Mapping[str, tuple[str, ...]]
    """The functions that it runs, by attribute."""
    beside: tuple[str, ...]
    """The ops that it is to be kept beside."""


@dataclasses.dataclass(frozen=True)
class Function:
    """A traced function before it was placed."""

    name: str
    label: str
    compiled: bool
    nodes: tuple[Node, ...]
    arguments: tuple[int, ...]
    results: tuple[tuple[int, int], ...]
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
        functions={name: _function(name, one) for name, one in data["functions"].items()},
        pulls=tuple(_pull(one) for one in data["pulls"]),
        remarks=tuple(
            Remark(str(one["what"]), int(one["loc"] or 0), int(one["count"]), dict(one.get("facts") or {}))
            for one in data["notes"]
        ),
        left_out=int(data["left_out"]),
    )


def _record(number: int, data: Mapping[str, Any]) -> Record:
    return Record(
        number=number,
        op=data["op"],
        types=data["types"],
        requested=data["requested"],
        loc=data["loc"] or 0,
        forward_loc=data["forward"][0] or 0,
        forward_requested=data["forward"][1],
        inputs=tuple(
            Taken(slot, maker, output, Tensor.of(tensor), tuple(before), count, early)
            for slot, maker, output, tensor, before, count, early in data["inputs"]
        ),
        outputs=tuple(map(Tensor.of, data["outputs"])),
        count=data["count"],
        early=data["early"],
        function=data["function"],
        name=data.get("name") or "",
        beside=data.get("beside"),
    )


def _function(name: str, data: Mapping[str, Any]) -> Function:
    return Function(
        name=name,
        label=data["label"],
        compiled=data["compiled"],
        nodes=tuple(map(_node, data["nodes"])),
        arguments=tuple(data["arguments"]),
        results=tuple((node, output) for node, output in data["results"]),
        shapes={where: Tensor.of(tensor) for where, tensor in data["shapes"].items()},
    )


def _node(data: Mapping[str, Any]) -> Node:
    return Node(
        name=data["name"],
        op=data["op"],
        requested=data["requested"],
        loc=data["loc"] or 0,
        forward_loc=data["forward"][0] or 0,
        forward_requested=data["forward"][1],
        types=data["types"],
        inputs=tuple((node, output) for node, output in data["inputs"]),
        outputs=tuple(map(Tensor.of, data["outputs"])),
        calls={attribute: tuple(names) for attribute, names in data["calls"].items()},
        beside=tuple(data["beside"]),
    )


def _pull(data: Mapping[str, Any]) -> Pull:
    maker, output = data["from"]
    tensor = Tensor.of(data["tensor"])
    return Pull(data["kind"], data["loc"] or 0, maker, output, tensor, data["count"], data["early"])
