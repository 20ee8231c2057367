"""Which kernels TensorFlow has, by op, kind of device and types. Pure: it holds what a registry was read to.

A kernel is the code that computes an op on one kind of device for some types. TensorFlow takes the one of the
device's own kind that the op's attributes match, and else one of the kind DEFAULT, which serves every kind.
A kernel may keep some of its inputs and outputs in host memory even on a GPU: shapes, axes, most of int32.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Optional, Union

ANY_KIND = "DEFAULT"
_MOST_TYPES_NAMED = 8
_OF_THE_HOST = (
    "Dataset",
    "Iterator",
    "StringFormat",
    "Print",
    "Save",
    "Restore",
    "Summary",
    "PyFunc",
    "Queue",
)
"""Parts of the names of ops that have to do with files, Python or the input pipeline."""
Types = Mapping[str, Union[str, Sequence[str]]]
"""By attribute, a type's name or several: ``{"T": "float32"}``. Numbers (``N``) are in it too, as text."""


@dataclasses.dataclass(frozen=True)
class Argument:
    """One input or output of an op as its definition has it; it may stand for several tensors."""

    name: str
    type: str
    """``T``: by that attribute; ``*Tin``: one of each type in that one; ``=int32``: always that."""
    number: str = ""
    """The attribute with how many tensors it is; '' for one."""


@dataclasses.dataclass(frozen=True)
class Kernel:
    """One registered kernel."""

    kind: str
    """CPU, GPU, DEFAULT .."""
    allowed: Mapping[str, frozenset[str]]
    """By attribute the values that it takes; attributes that are not in it may have any."""
    host: tuple[str, ...] = ()
    """The arguments that it keeps in host memory."""
    priority: int = 0
    label: str = ""

    def matches(self, types: Types) -> bool:
        """Whether nothing that is known of an op's types is against it."""
        return all(self._takes(types.get(name), allowed) for name, allowed in self.allowed.items())

    @staticmethod
    def _takes(given: Union[str, Sequence[str], None], allowed: frozenset[str]) -> bool:
        if given is None:
            return True
        return set([given] if isinstance(given, str) else given) <= allowed

    def decided_by(self, types: Types) -> bool:
        """Whether every attribute that it asks for is known."""
        return all(name in types for name in self.allowed)


@dataclasses.dataclass(frozen=True)
class OpKernels:
    """All kernels of one op, and its arguments."""

    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    kernels: tuple[Kernel, ...]

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of devices that have a kernel of it at all; what only compilers use is left out."""
        return frozenset(k.kind for k in self.kernels if not k.label and not k.kind.endswith("_JIT"))


@dataclasses.dataclass(frozen=True)
class Answer:
    """What a table says of one op on one kind of device."""

    op: str
    kind: str
    outcome: str
    """found, no-kernel (none for the kind), no-type (none for these types), or unknown-op."""
    kinds: tuple[str, ...] = ()
    """The kinds that have kernels of the op."""
    types: tuple[tuple[str, str], ...] = ()
    """The types that it was looked up by."""
    has: tuple[str, ...] = ()
    """With no-type, the types that the kind has kernels for, of the attribute that decides."""
    decides: str = ""
    """That attribute; '' where no single one does."""
    host: frozenset[str] = frozenset()
    """With found, the arguments in host memory: those that all kernels in question keep there."""
    priority: int = 0
    """With found, the kernel's: an op that nobody placed goes to the kind whose kernel has the highest."""
    certain: bool = True
    """Every attribute that a kernel depends on was known; else another type might be decided otherwise."""

    @property
    def found(self) -> bool:
        """Whether there is a kernel."""
        return self.outcome == "found"

    @property
    def missing(self) -> bool:
        """Whether it is known that there is none."""
        return self.outcome in ("no-kernel", "no-type")

    @property
    def words(self) -> str:
        """A clause for people: ``UniqueV2 has kernels for CPU``; '' where there is a kernel."""
        kinds = " and ".join(self.kinds)
        if self.outcome == "no-kernel":
            return f"{self.op} has kernels for {kinds}"
        if self.outcome == "no-type":
            asked = dict(self.types).get(self.decides, "these types")
            listed = len(self.has) <= _MOST_TYPES_NAMED and self.has
            having = ", ".join(self.has) if listed else f"{len(self.has) or 'other'} other types"
            return f"{self.op} has {self.kind} kernels for {having}, none for {asked}"
        return f"{self.op} is not in the kernel table" if self.outcome == "unknown-op" else ""


class KernelTable:
    """The kernels of one build of TensorFlow."""

    def __init__(self, ops: Mapping[str, OpKernels], source: str, xla: frozenset[str] = frozenset()) -> None:
        """`source` says whose table it is: ``TensorFlow 2.21.0, CUDA 12.5.1``."""
        self.ops = ops
        self.source = source
        self.xla = xla
        """The ops that XLA compiles for a GPU; none where that is not known."""

    def look_up(self, op: str, kind: str, types: Types) -> Answer:
        """What there is for an op on a kind of device; of types that are not known nothing is concluded."""
        known = self.ops.get(op)
        asked = tuple((name, value) for name, value in types.items() if isinstance(value, str))
        if known is None or not known.kernels:
            return Answer(op, kind, "unknown-op", types=asked)
        kinds = tuple(sorted(known.kinds))
        usable = [kernel for kernel in known.kernels if kernel.label == types.get("_kernel", "")]
        own = [kernel for kernel in usable if kernel.kind == kind]
        serving = [kernel for kernel in usable if kernel.kind == ANY_KIND]
        if not own and not serving:
            return Answer(op, kind, "no-kernel", kinds, asked)
        fitting = [kernel for kernel in own if kernel.matches(types)]
        if not fitting or not any(kernel.decided_by(types) for kernel in fitting):
            fitting += [kernel for kernel in serving if kernel.matches(types)]
        if not fitting:
            decides, has = _deciding(own + serving, types)
            return Answer(op, kind, "no-type", kinds, asked, has, decides)
        best = max(kernel.priority for kernel in fitting)
        taken = [kernel for kernel in fitting if kernel.priority == best]
        host = frozenset.intersection(*(frozenset(kernel.host) for kernel in taken))
        certain = all(kernel.decided_by(types) for kernel in taken)
        return Answer(op, kind, "found", kinds, asked, host=host, priority=best, certain=certain)

    def host_slots(self, answer: Answer, types: Types, outputs: bool = False) -> frozenset[int]:
        """The numbers of the inputs, or outputs, that a found kernel keeps in host memory."""
        known = self.ops.get(answer.op)
        if known is None or not answer.host:
            return frozenset()
        slots: set[int] = set()
        at = 0
        for argument in known.outputs if outputs else known.inputs:
            width = _width(argument, types)
            if width is None:  # what follows cannot be numbered
                break
            if argument.name in answer.host:
                slots.update(range(at, at + width))
            at += width
        return frozenset(slots)

    def types_of_slot(self, op: str, slot: int, dtype: str, outputs: bool = False) -> dict[str, str]:
        """What one input's, or output's, type tells of the op's attributes; empty where that is not clear."""
        known = self.ops.get(op)
        arguments = (known.outputs if outputs else known.inputs) if known else ()
        for at, argument in enumerate(arguments):
            if argument.type[:1] == "*" or (argument.number and len(arguments) > 1):
                return {}
            if at == slot or argument.number:
                return {} if argument.type[:1] == "=" else {argument.type: dtype}
        return {}


def _width(argument: Argument, types: Types) -> Optional[int]:
    if argument.type[:1] == "*":
        listed = types.get(argument.type[1:])
        return None if listed is None or isinstance(listed, str) else len(listed)
    if argument.number:
        number = types.get(argument.number)
        return int(number) if isinstance(number, str) and number.isdecimal() else None
    return 1


def _deciding(kernels: Sequence[Kernel], types: Types) -> tuple[str, tuple[str, ...]]:
    """The attribute without which one of the kernels would fit, and what it may be there."""
    for name in dict.fromkeys(name for kernel in kernels for name in kernel.allowed):
        rest = {other: value for other, value in types.items() if other != name}
        having = [
            kernel.allowed[name] for kernel in kernels if name in kernel.allowed and kernel.matches(rest)
        ]
        if having and name in types:
            return name, tuple(sorted(frozenset.union(*having)))
    return "", ()


def of_the_host(op: str) -> bool:
    """Whether an op has its work on the host, so that nobody wants it on a GPU."""
    return any(part in op for part in _OF_THE_HOST)


# -- as data -------------------------------------------------------------------------------------------------


def packed(known: OpKernels) -> dict[str, Any]:
    """An op's kernels as plain data, those that differ in one attribute's types put together."""
    return {
        "in": [_packed_argument(argument) for argument in known.inputs],
        "out": [_packed_argument(argument) for argument in known.outputs],
        "kernels": [
            [
                kernel.kind,
                {name: sorted(values) for name, values in sorted(kernel.allowed.items())},
                list(kernel.host),
                kernel.priority,
                kernel.label,
            ]
            for kernel in together(known.kernels)
        ],
    }


def unpacked(data: Mapping[str, Any]) -> OpKernels:
    """What `packed` made plain data of."""
    return OpKernels(
        tuple(_unpacked_argument(text) for text in data["in"]),
        tuple(_unpacked_argument(text) for text in data["out"]),
        tuple(
            Kernel(kind, {n: frozenset(v) for n, v in allowed.items()}, tuple(host), priority, label)
            for kind, allowed, host, priority, label in data["kernels"]
        ),
    )


def together(kernels: Iterable[Kernel]) -> list[Kernel]:
    """Fewer kernels that say the same: two that differ in one attribute's types only are one with both."""
    made = sorted(kernels, key=_order)
    merged = True
    while merged:
        merged = False
        rest: list[Kernel] = []
        for kernel in made:
            for at, other in enumerate(rest):
                one = _one(other, kernel)
                if one is not None:
                    rest[at], merged = one, True
                    break
            else:
                rest.append(kernel)
        made = rest
    return sorted(made, key=_order)


def _one(a: Kernel, b: Kernel) -> Optional[Kernel]:
    if (a.kind, a.host, a.priority, a.label) != (b.kind, b.host, b.priority, b.label):
        return None
    if a.allowed.keys() != b.allowed.keys():
        return None
    differ = [name for name in a.allowed if a.allowed[name] != b.allowed[name]]
    if len(differ) > 1:
        return None
    return dataclasses.replace(a, allowed={name: a.allowed[name] | b.allowed[name] for name in a.allowed})


def _order(kernel: Kernel) -> tuple[Any, ...]:
    allowed = sorted((name, sorted(values)) for name, values in kernel.allowed.items())
    return kernel.kind, kernel.label, kernel.priority, kernel.host, allowed


def _packed_argument(argument: Argument) -> str:
    return " ".join(part for part in (argument.name, argument.type, argument.number) if part)


def _unpacked_argument(text: str) -> Argument:
    return Argument(*text.split(" "))
