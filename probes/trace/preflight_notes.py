"""What a pre-flight notes of a process: ops, and what each took from which other.

The recorder writes it as JSON (`probes/tf/dataflow.py`): an object, or a list in the order of the fields,
for each of these records. Standard library only, Python 3.9.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Optional

PYTHON = -1
"""The maker of what Python or numpy data became."""
HANDLES = frozenset({"resource", "variant"})
Source = tuple[int, int]
"""(Op's number, output)."""
_BITS = {"bool": 8, "complex64": 64, "complex128": 128}
_NUMBER = re.compile(r"(?:q?u?int|b?float)(\d+)")


@dataclasses.dataclass(frozen=True)
class Tensor:
    """A tensor's type and extents, as far as known."""

    dtype: str
    shape: Optional[tuple[Optional[int], ...]]

    @property
    def bytes(self) -> Optional[int]:
        """Size; None where an extent is not known or the type has no fixed size."""
        bits = _BITS.get(self.dtype)
        if bits is None:
            number = _NUMBER.match(self.dtype)
            bits = max(8, int(number[1])) if number else 0  # int4 takes a byte, too
        if not bits or self.shape is None or None in self.shape:
            return None
        return math.prod(extent or 0 for extent in self.shape) * bits // 8


@dataclasses.dataclass(frozen=True)
class Taken:
    """An input of a record, as one of its makers made it."""

    slot: int
    maker: int
    """Number of a record, or PYTHON."""
    output: int
    tensor: Tensor
    before: tuple[int, ...]
    """Records that had taken this very tensor before."""
    count: int
    early: int
    """How often of these up to the end of the first step."""


@dataclasses.dataclass(frozen=True)
class Forward:
    """The forward op of an op of the backward pass."""

    loc: int
    """0 for an op that has none."""
    requested: str


@dataclasses.dataclass(frozen=True)
class Op:
    """An op as the code created it."""

    op: str
    types: Mapping[str, Any]
    requested: str
    loc: int
    forward: Forward
    outputs: tuple[Tensor, ...]


@dataclasses.dataclass(frozen=True)
class Record(Op):
    """An op, or the call of a function, at a line outside of functions."""

    inputs: tuple[Taken, ...]
    count: int
    early: int
    function: str
    """The function that is called; '' for an op."""
    number: int
    """Place among the records; readers fill it in."""
    name: str = ""
    """Of a variable."""
    beside: Optional[int] = None
    """The record beside whose output it is to be kept."""

    @functools.cached_property
    def by_slot(self) -> Mapping[int, Taken]:
        """The first input of each slot."""
        return {one.slot: one for one in reversed(self.inputs)}


@dataclasses.dataclass(frozen=True)
class Node(Op):
    """An op of a function."""

    name: str
    """In its function."""
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
    """A host read at a line."""

    kind: str
    loc: int
    made: Source = dataclasses.field(metadata={"name": "from"})
    """The record that made the value, or PYTHON, and its output."""
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
    """All notes of one process."""

    pid: int
    kernels: str
    """Whose kernel registry the process had."""
    has_gpu_kernels: bool
    steps: int
    """Whole steps after the first; 0 for a script without steps, or with no other."""
    sites: Mapping[int, tuple[str, Optional[str]]]
    """Location -> (``train.py:31``, the library's frame below)."""
    records: tuple[Record, ...]
    functions: Mapping[str, Function]
    pulls: tuple[Pull, ...]
    notes: tuple[Remark, ...]
    left_out: int
    steps_made: int = 0
    """All whole steps."""

    def site(self, loc: int) -> Optional[str]:
        """``train.py:31``; None for a location that was not noted."""
        return self.sites[loc][0] if loc in self.sites else None
