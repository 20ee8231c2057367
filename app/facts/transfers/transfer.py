"""One transfer as the rules judge it: its recorded facts, and what is known of the run around it."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from app.facts.devices import default_device, is_host

TINY = 64
"""Bytes of a transfer that is a note where it would otherwise be a warning about its device."""
_MUCH = 4096
"""Bytes of a transfer of an evaluation, from which on a missing scope is worth a warning."""
HANDED_OVER_ON_HOST = frozenset({"int32", "string"})
"""Types that TensorFlow's functions take in host memory, wherever the tensor lies."""
PLUMBING = frozenset({"Enter", "Exit", "Merge", "NextIteration", "Switch"})
"""Op types that loops and branches are made of when they run; nobody could have put them anywhere."""
NOT_THE_CODES = PLUMBING | {"_Retval", "_Arg", "Python", "Identity"}
"""Op types that a runtime makes by itself: arguments, results, the plumbing of loops and branches."""
CHANGES = ("Assign", "ResourceApply", "ResourceScatter")
"""How ops begin that change a variable where it lives."""
READS = frozenset({"ReadVariableOp", "ResourceGather", "VariableV2", "Variable"})
"""Types of ops that hand a variable's value, or rows of it, to the code."""
_MAYBE_READS = frozenset({"", "?", "ReadVariableOp"})
"""Types of producers whose results may be a variable's value, which an Identity hands to the code."""
_MADE_BY_OPTIMIZER = ("LayoutOptimizer", "ConstantFolding", "ArithmeticOptimizer", "DebugIdentity")


@dataclasses.dataclass(frozen=True)
class Reduction:
    """A collective that was built from ordinary ops and sends."""

    graph: int
    loc: int
    devices: frozenset[str]
    algorithm: str
    gradients: bool = False
    """An optimizer that was being applied asked for it."""


Made = tuple[object, ...]
"""(Op, location, device) of what made a tensor."""


@dataclasses.dataclass(frozen=True)
class HandSum:
    """Gradients that the code itself adds up on the host, as copied there at one line."""

    gradients: frozenset[Made]
    back_at: tuple[str, ...]
    """Lines that use the result on the devices again."""
    applied_at: tuple[str, ...] = ()
    """Lines that change the host's variables by it, which the devices read then."""

    @property
    def devices(self) -> frozenset[str]:
        """The devices that have the gradients."""
        return frozenset(str(made[-1]) for made in self.gradients)

    def and_(
        self, gradients: frozenset[Made], back_at: Iterable[str] = (), applied_at: Iterable[str] = ()
    ) -> HandSum:
        """The same with more gradients, and more lines, each once."""
        back, applied = (*self.back_at, *back_at), (*self.applied_at, *applied_at)
        return HandSum(self.gradients | gradients, tuple(dict.fromkeys(back)), tuple(dict.fromkeys(applied)))


NO_SUM = HandSum(frozenset(), ())


class MadeOnHost(NamedTuple):
    """What MXNet's ops of one line made in the host's memory."""

    times: int
    kept: frozenset[str] = frozenset()
    """Reasons to be there: ``used`` with others there, ``worked on`` at all, ``sent`` to several places."""
    sent: int = 0
    """Copies to other devices of what comes of it."""


Place = tuple[int, int]
"""(Graph, location); graph 0 is for eager ops."""
Sent = tuple[object, ...]
"""What tells one transfer from others."""


def sent(fields: Mapping[str, Any]) -> Sent:
    """Of a graph, which tensor goes where; of eager ops, from which line to which and of which shape too."""
    names = ("tensor", "dst") if fields.get("graph") else ("tensor", "dst", "loc", "producer_loc", "shape")
    return (fields.get("graph") or 0, *(fields.get(name) for name in names))


@dataclasses.dataclass(frozen=True)
class Context:
    """What a transfer is judged by beside its own facts."""

    devices: frozenset[str] = frozenset()
    """The devices that the framework has; empty when it did not say."""
    reductions: Sequence[Reduction] = ()
    rounds: int = 0
    """How often "every step" is; 0 when that is not known."""
    defaults: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Role ('' for none) -> where its recorder says that ops go which nobody placed."""
    taken: Mapping[tuple[int, str], str] = dataclasses.field(default_factory=dict)
    """(Location, host) of each line at which Python took values of the host -> how it did."""

    repeated: frozenset[Sent] = frozenset()
    """The transfers that send a tensor again which they had sent before."""

    hand_sums: Mapping[Place, HandSum] = dataclasses.field(default_factory=dict)
    """(Graph, location) at which gradients are copied to the host -> what the code adds up of them there."""

    cut_batches: frozenset[Place] = frozenset()
    """Where the code cuts what lies on the host into parts for several devices."""

    drawn: frozenset[Made] = frozenset()
    """What hands out random numbers that the code drew: no data that the host has to give."""

    made_on_host: Mapping[tuple[str, int], MadeOnHost] = dataclasses.field(default_factory=dict)
    """By op and location, where MXNet's code copies arrays that it made from nothing."""

    places_ops: bool = False
    """A framework with a table of kernels made the transfers: what they keep in host memory is known."""

    def default(self, like: str) -> str:
        """Where an op goes that nobody placed, in the process of the device `like`."""
        return default_device(self.devices, like, self.defaults)


class _Text:
    """A field's text, '' when it is absent."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, transfer: Transfer, owner: type) -> str:
        return transfer.text(self._name)


@dataclasses.dataclass(frozen=True)
class Transfer:
    """A hop key's fields, by the names that the rules use."""

    fields: Mapping[str, Any]
    context: Context
    count: int | None = None
    each: float | None = None
    """How often in every step, 0 for less; None where only the count tells."""
    again: bool = False
    """It comes many times at once, again and again between steps, as an evaluation's do."""
    blames: str = "consumer"
    """The end that a rule asks about, whose line would be changed: consumer or producer."""

    def text(self, name: str) -> str:
        """A field's text, '' when it is absent."""
        value = self.fields.get(name)
        return value if isinstance(value, str) else ""

    src = _Text()
    dst = _Text()
    kind = _Text()
    """Copy, upload, pull or arg."""
    op = _Text()
    producer_op = _Text()
    dtype = _Text()
    requested = _Text()
    """Device that the code asked for, for the consumer."""
    producer_requested = _Text()

    def own(self, name: str) -> str:
        """The text of a field of the end that is blamed."""
        return self.text(f"{self._role}{name}")

    def own_fact(self, name: str) -> Any:
        """A fact of the end that is blamed; None for none."""
        return self.facts.get(f"{self._role}{name}")

    @property
    def _role(self) -> str:
        return "producer_" if self.blames == "producer" else ""

    @property
    def here(self) -> str:
        """Device of the end that is blamed."""
        return self.src if self.blames == "producer" else self.dst

    @property
    def there(self) -> str:
        """Device of the other end."""
        return self.dst if self.blames == "producer" else self.src

    @property
    def facts(self) -> Mapping[str, Any]:
        """Further evidence from the recorder."""
        value = self.fields.get("facts")
        return value if isinstance(value, Mapping) else {}

    @property
    def consumers(self) -> Sequence[str]:
        """Names of the consuming ops."""
        return self.fields.get("consumers") or ()

    @property
    def made_by_code(self) -> bool:
        """Whether the consumer is an op that the user's code made, so that its request tells something."""
        if self.facts.get("rewritten") or (self.op in NOT_THE_CODES and not self._is_identity):
            return False
        return not any(made_by_optimizer(name) for name in self.consumers[:1])

    @property
    def _is_identity(self) -> bool:
        """Whether the consumer is an Identity that the code called: graphs and variables make some too."""
        of_variable = self.facts.get("variable") or self.producer_op in _MAYBE_READS
        return self.op == "Identity" and not self.fields.get("graph") and not of_variable

    @property
    def tiny(self) -> bool:
        """A scalar or two: it costs a copy's latency at most, and a library's bookkeeping is full of them."""
        size = self.fields.get("bytes")
        return size is not None and size <= TINY

    @functools.cached_property
    def default(self) -> str:
        """Where an op goes in the consumer's process when nobody asked."""
        return self.called_on or self.context.default(self.dst)

    @functools.cached_property
    def producer_default(self) -> str:
        """Where an op goes in the producer's process when nobody asked."""
        return self.producer_called_on or self.context.default(self.src)

    @property
    def called_on(self) -> str:
        """Device of the scope around the call of the consumer's function; '' for none, and where it asked."""
        return str(self.facts.get("called_on") or "")

    @property
    def producer_called_on(self) -> str:
        """The same of the producer."""
        return str(self.facts.get("producer_called_on") or "")

    @property
    def every_step(self) -> bool:
        """Whether it happened at least once a step (or call); false when that is not known."""
        rounds = self.context.rounds
        if self.each is not None:
            return self.each > 0
        return self.count is not None and rounds > 1 and self.count >= rounds

    @property
    def often(self) -> bool:
        """Whether it happened at least in every other step's number, as what stands in a loop beside them."""
        return happened_often(self.count, self.context.rounds)

    @property
    def misses_scope_again(self) -> bool:
        """Whether a loop between steps, each time it comes, takes much off its device unasked."""
        by_default = not self.requested and self.dst == self.default and not is_host(self.src)
        return self.again and by_default and (self.fields.get("bytes") or 0) >= _MUCH

    @property
    def is_part_of_batch(self) -> bool:
        """Whether it brings a device its part of what the code cut on the host for several."""
        place = self.fields.get("graph") or 0, self.fields.get("producer_loc") or 0
        return place in self.context.cut_batches

    @property
    def of_drawn_numbers(self) -> bool:
        """Whether what is sent are random numbers that an eager op drew, which any device could have."""
        made = self.producer_op, self.fields.get("producer_loc"), self.src
        return made in self.context.drawn and self.dtype not in HANDED_OVER_ON_HOST

    @property
    def of_python_data(self) -> bool:
        """Whether what is sent was made of Python's or numpy's data: it lay on the host before."""
        return self.producer_op in ("Const", "_EagerConst", "Python")

    @property
    def seldom(self) -> bool:
        """Whether it is known to happen less often than every step."""
        if self.each is not None:
            return self.each == 0
        return self.count is not None and self.count < self.context.rounds


_OFTEN, _LEAST_OFTEN = 0.5, 6


def happened_often(count: int | None, rounds: int) -> bool:
    """Whether something that no step paces recurs by its count: more than once an epoch would."""
    return count is not None and count >= max(_LEAST_OFTEN, _OFTEN * rounds)


def made_by_optimizer(name: str) -> bool:
    """Whether a graph optimizer put an op of this name in."""
    return any(mark in name for mark in _MADE_BY_OPTIMIZER)
