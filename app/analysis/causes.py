"""Why a transfer happened: a code with its evidence, or `unknown`; a wrong cause is worse than none.

Each rule is a small function from a transfer's recorded facts to its evidence, None where the facts don't
decide. The first rule that decides wins, so what is more particular stands first.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from app.analysis.devices import default_device, is_gpu, is_host, parse

Evidence = dict[str, Any]

SEVERITY = {
    "explicit": "info",
    "default-device": "warning",
    "gradient-outside-scope": "warning",
    "no-kernel": "warning",
    "host-memory": "info",
    "missing-device": "warning",
    "colocation": "info",
    "variable-home": "warning",
    "host-sync": "warning",
    "host-upload": "info",
    "mixed-context": "error",
    "redundant-copy": "warning",
    "bounce": "warning",
    "collective": "info",
    "reduce-on-host": "warning",
    "replica-drift": "error",
    "xla-opaque": "warning",
    "unbalanced": "warning",
    "unknown": "info",
}
"""Every cause code with its severity where the facts say nothing else."""
RANK = {"error": 0, "warning": 1, "info": 2}

READS = frozenset({"ReadVariableOp", "ResourceGather", "VariableV2", "Variable"})
ITERATORS = frozenset({"IteratorGetNext", "IteratorGetNextSync", "MultiDeviceIteratorGetNextFromShard"})
PYTHON_DATA = frozenset({"Python", "Const"})
_SUMS = frozenset({"AddN"})
"""What reductions sum with; another op at their line may have its own reasons."""
_MADE_BY_OPTIMIZER = ("LayoutOptimizer", "ConstantFolding", "ArithmeticOptimizer", "DebugIdentity")


@dataclasses.dataclass(frozen=True)
class Cause:
    """Why something happened, how bad that is, and what it was judged by."""

    code: str
    severity: str
    evidence: Evidence
    blames: str = "consumer"
    """Whose line is to be changed: consumer or producer."""


@dataclasses.dataclass(frozen=True)
class Reduction:
    """A collective that was built from ordinary ops and sends."""

    graph: int
    loc: int
    devices: frozenset[str]
    algorithm: str


@dataclasses.dataclass(frozen=True)
class Context:
    """What a transfer is judged by beside its own facts."""

    devices: frozenset[str] = frozenset()
    """The devices that the framework has; empty when it did not say."""
    reductions: Sequence[Reduction] = ()
    rounds: int = 0
    """How often "every step" is; 0 when that is not known."""


TINY = 64
"""Bytes of a transfer that is a note where it would otherwise be a warning about its device."""
NOT_THE_CODES = {"_Retval", "_Arg", "Python", "Identity", "Enter", "Exit", "Merge", "NextIteration", "Switch"}
"""Op types that a runtime makes by itself: arguments, results, the plumbing of loops and branches."""


@dataclasses.dataclass(frozen=True)
class Transfer:
    """A hop key's fields, by the names that the rules use."""

    fields: Mapping[str, Any]
    context: Context
    count: int | None = None

    def text(self, name: str) -> str:
        """A field's text, '' when it is absent."""
        value = self.fields.get(name)
        return value if isinstance(value, str) else ""

    @property
    def src(self) -> str:
        """Source device."""
        return self.text("src")

    @property
    def dst(self) -> str:
        """Destination device."""
        return self.text("dst")

    @property
    def requested(self) -> str:
        """Device that the code asked for, for the consumer."""
        return self.text("requested")

    @property
    def producer_requested(self) -> str:
        """Device that the code asked for, for the producer."""
        return self.text("producer_requested")

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
        if self.facts.get("rewritten") or self.text("op") in NOT_THE_CODES:
            return False
        return not any(_made_by_optimizer(name) for name in self.consumers[:1])

    @property
    def tiny(self) -> bool:
        """A scalar or two: it costs a copy's latency at most, and a library's bookkeeping is full of them."""
        size = self.fields.get("bytes")
        return size is not None and size <= TINY

    @functools.cached_property
    def default(self) -> str:
        """Where an op goes in the consumer's process when nobody asked."""
        return default_device(self.context.devices, self.dst)

    @property
    def every_step(self) -> bool:
        """Whether it happened at least once a step (or call); false when that is not known."""
        rounds = self.context.rounds
        return self.count is not None and rounds > 1 and self.count >= rounds

    @property
    def seldom(self) -> bool:
        """Whether it is known to happen less often than every step."""
        return self.count is not None and self.count < self.context.rounds


def _made_by_optimizer(name: str) -> bool:
    return any(mark in name for mark in _MADE_BY_OPTIMIZER)


Rule = Callable[[Transfer], Evidence | None]


def judge(fields: Mapping[str, Any], context: Context, count: int | None = None) -> Cause:
    """The cause of one transfer, from its hop key's fields; `count` is its executions in the run."""
    transfer = Transfer(fields, context, count)
    for code, blames, rule in RULES:
        evidence = rule(transfer)
        if evidence is not None:
            return Cause(code, severity_of(code, transfer), _placed(transfer) | evidence, blames)
    return Cause("unknown", SEVERITY["unknown"], _placed(transfer) | _what_is_known(transfer))


def severity_of(code: str, transfer: Transfer) -> str:
    """The code's severity, unless the facts say otherwise."""
    if code == "host-upload":
        return "warning" if transfer.facts.get("stalls") else "info"
    if code in ("host-sync", "variable-home"):
        return "warning" if transfer.every_step else "info"
    if code == "default-device" and (transfer.seldom or transfer.tiny):
        return "info"
    return SEVERITY[code]


def _placed(transfer: Transfer) -> Evidence:
    return {
        "requested": transfer.requested,
        "assigned": transfer.text("assigned"),
        "producer_requested": transfer.producer_requested,
        "src": transfer.src,
        "dst": transfer.dst,
    }


def _what_is_known(transfer: Transfer) -> Evidence:
    known = {key: value for key, value in transfer.facts.items() if value not in ("", None)}
    if transfer.text("kind") == "arg":
        known["argument_made_by"] = transfer.text("producer_op")
    return known


def collective(transfer: Transfer) -> Evidence | None:
    """A part of a reduction: said by the recorder, or a sum at the line and between the devices of one."""
    named = transfer.facts.get("collective")
    if named:
        return {"algorithm": str(named)}
    reduction = _reduction(transfer)
    if reduction is None or _sums_gradients_on_host(transfer, reduction):
        return None
    return {"algorithm": reduction.algorithm, "devices": sorted(reduction.devices)}


def reduce_on_host(transfer: Transfer) -> Evidence | None:
    """Gradients of a reduction are summed on the host, which is none of its devices."""
    reduction = _reduction(transfer)
    if reduction is None or not _sums_gradients_on_host(transfer, reduction):
        return None
    return {"algorithm": reduction.algorithm, "devices": sorted(reduction.devices)}


def _reduction(transfer: Transfer) -> Reduction | None:
    if transfer.text("op") not in _SUMS and transfer.text("producer_op") not in _SUMS:
        return None
    for reduction in transfer.context.reductions:
        ends = {transfer.src, transfer.dst}
        if (
            reduction.loc
            and reduction.loc == transfer.fields.get("loc")
            and reduction.graph == (transfer.fields.get("graph") or 0)
            and ends & reduction.devices
            and all(end in reduction.devices or is_host(end) for end in ends)
        ):
            return reduction
    return None


def _sums_gradients_on_host(transfer: Transfer, reduction: Reduction) -> bool:
    host = transfer.dst if transfer.text("op") in _SUMS else transfer.src
    gradient = bool(transfer.fields.get("forward_loc"))
    return gradient and is_host(host) and host not in reduction.devices


def host_sync(transfer: Transfer) -> Evidence | None:
    """Python took the value."""
    if transfer.text("kind") != "pull":
        return None
    return {"taken_by": transfer.facts.get("sync") or ", ".join(transfer.consumers)}


def redundant_copy(transfer: Transfer) -> Evidence | None:
    """A copy to where the tensor is already, or of a tensor that was copied there before."""
    same_memory = transfer.fields.get("src_memory") == transfer.fields.get("dst_memory")
    if transfer.src and transfer.src == transfer.dst and same_memory:
        return {"same_device": transfer.src}
    if transfer.facts.get("copied_before"):
        return {"copied_before": transfer.facts["copied_before"]}
    return None


def host_upload(transfer: Transfer) -> Evidence | None:
    """Python's or numpy's data, sent by itself, as an argument of a call, or when an eager op takes it."""
    if transfer.text("kind") == "upload":
        return {"data": "Python or numpy"}
    if transfer.text("producer_op") not in PYTHON_DATA or not is_host(transfer.src):
        return None
    if transfer.text("kind") == "arg":
        return {"data": "Python or numpy", "argument_made_by": transfer.text("producer_op")}
    # In a graph a constant is an op like any other; and where both devices are named, the code decided.
    eager = not transfer.fields.get("graph") and explicit(transfer) is None
    return {"data": "Python or numpy"} if eager else None


def no_kernel(transfer: Transfer) -> Evidence | None:
    """The recorder looked the kernel up and there was none."""
    return {"kernel": transfer.facts["no_kernel"]} if transfer.facts.get("no_kernel") else None


def missing_device(transfer: Transfer) -> Evidence | None:
    """The device that the code named does not exist here, and the op ran on another."""
    if not transfer.context.devices:
        return None
    for name, ran_on in ((transfer.requested, transfer.dst), (transfer.producer_requested, transfer.src)):
        if parse(name) and name not in transfer.context.devices and ran_on != name:
            return {"missing": name, "ran_on": ran_on}
    return None


def host_memory(transfer: Transfer) -> Evidence | None:
    """A GPU kernel keeps the argument or the result in host memory."""
    for end, other, memory, role in (
        (transfer.dst, transfer.src, "dst_memory", "argument"),
        (transfer.src, transfer.dst, "src_memory", "result"),
    ):
        kept = is_gpu(end) and transfer.fields.get(memory) == "host"
        if kept and (other == end or is_host(other)):
            return {"kept_in_host_memory": role, "device": end, "dtype": transfer.text("dtype")}
    return None


def gradient_outside_scope(transfer: Transfer) -> Evidence | None:
    """The consumer is a backward op that nobody placed, whose forward op was placed elsewhere."""
    wanted = str(transfer.facts.get("forward_requested") or "")
    if transfer.requested or not parse(wanted) or not transfer.made_by_code:
        return None
    # Elsewhere than the default device it stands for a reason that is not this one.
    if transfer.dst != transfer.default or transfer.dst == wanted:
        return None
    return {"forward_requested": wanted, "default_device": transfer.default}


def gradient_made_outside_scope(transfer: Transfer) -> Evidence | None:
    """The producer is a backward op that nobody placed, whose forward op was placed elsewhere."""
    wanted = str(transfer.facts.get("producer_forward_requested") or "")
    if transfer.producer_requested or not parse(wanted) or transfer.facts.get("producer_rewritten"):
        return None
    default = default_device(transfer.context.devices, transfer.src)
    if transfer.src != default or transfer.src == wanted:
        return None
    return {"producer_forward_requested": wanted, "default_device": default}


def colocation(transfer: Transfer) -> Evidence | None:
    """The consumer was kept beside a variable or resource, not where the code asked."""
    beside = transfer.facts.get("colocated_with")
    return {"colocated_with": beside} if beside and transfer.requested != transfer.dst else None


def made_beside_iterator(transfer: Transfer) -> Evidence | None:
    """The producer takes the next element of an input pipeline, which it can do only where that lives."""
    if transfer.text("producer_op") not in ITERATORS or transfer.producer_requested:
        return None
    return {"producer_colocated_with": "the input pipeline's iterator"}


def default_placed(transfer: Transfer) -> Evidence | None:
    """Nobody asked for a device for the consumer, and it ran on the default one, away from its input."""
    if transfer.requested or not transfer.made_by_code or transfer.text("kind") in ("upload", "pull"):
        return None
    # A backward op of which nothing is known but that it is one may have its forward op's reasons.
    if transfer.fields.get("forward_loc") and "forward_requested" not in transfer.facts:
        producer_is_backward = "producer_forward_requested" in transfer.facts
        if not producer_is_backward:
            return None
    at_home = transfer.dst == transfer.default == transfer.text("assigned")
    return {"default_device": transfer.default} if at_home and transfer.src != transfer.dst else None


def default_producer(transfer: Transfer) -> Evidence | None:
    """The code named the consumer's device but not the producer's, which ran on the default one."""
    if transfer.producer_requested or transfer.fields.get("forward_loc") or transfer.text("kind") != "copy":
        return None
    if transfer.requested != transfer.dst or transfer.facts.get("producer_rewritten"):
        return None
    if transfer.text("producer_op") in READS | {"", "?", "_Arg"} or _made_by_optimizer(
        transfer.text("producer")
    ):
        return None
    default = default_device(transfer.context.devices, transfer.src)
    return {"producer_default_device": default} if transfer.src == default != transfer.dst else None


def variable_home(transfer: Transfer) -> Evidence | None:
    """A variable's value is read on another device than the variable's."""
    variable = transfer.facts.get("variable")
    if not variable and transfer.text("producer_op") not in READS:
        return None
    return {"lives_on": transfer.src} | ({"variable": variable} if variable else {})


def explicit(transfer: Transfer) -> Evidence | None:
    """The code named both devices, both were given, and they differ."""
    asked = transfer.producer_requested, transfer.requested
    given = transfer.src, transfer.dst
    return {"named": list(asked)} if asked == given and asked[0] != asked[1] and all(asked) else None


RULES: tuple[tuple[str, str, Rule], ...] = (
    ("reduce-on-host", "consumer", reduce_on_host),
    ("collective", "consumer", collective),
    ("host-sync", "consumer", host_sync),
    ("redundant-copy", "consumer", redundant_copy),
    ("host-upload", "consumer", host_upload),
    ("no-kernel", "consumer", no_kernel),
    ("missing-device", "consumer", missing_device),
    ("host-memory", "consumer", host_memory),
    ("gradient-outside-scope", "consumer", gradient_outside_scope),
    ("gradient-outside-scope", "producer", gradient_made_outside_scope),
    ("colocation", "consumer", colocation),
    ("colocation", "producer", made_beside_iterator),
    ("default-device", "consumer", default_placed),
    ("variable-home", "consumer", variable_home),
    ("default-device", "producer", default_producer),
    ("explicit", "consumer", explicit),
)
"""(code, whose line is to be changed, rule), the particular before the general."""
