"""Transfers because of where producer or consumer were placed, and by what."""

from __future__ import annotations

from typing import Any

from app.analysis.devices import is_gpu, is_host, parse
from app.analysis.transfer import PLUMBING, Transfer, made_by_optimizer

READS = frozenset({"ReadVariableOp", "ResourceGather", "VariableV2", "Variable"})
ITERATORS = frozenset({"IteratorGetNext", "IteratorGetNextSync", "MultiDeviceIteratorGetNextFromShard"})


def no_kernel(transfer: Transfer) -> dict[str, Any] | None:
    """The recorder looked the kernel up and there was none."""
    if not transfer.facts.get("no_kernel"):
        return None
    return {"kernel": transfer.facts["no_kernel"], **_looked_up(transfer, "kernel_from")}


def made_without_kernel(transfer: Transfer) -> dict[str, Any] | None:
    """The producer has no kernel for the requested device, so it ran here and its result goes back."""
    kernel = transfer.facts.get("producer_no_kernel")
    if not kernel:
        return None
    told = _looked_up(transfer, "producer_kernel_from")
    return {"kernel": kernel, **told, "producer_requested": transfer.producer_requested}


def _looked_up(transfer: Transfer, name: str) -> dict[str, Any]:
    """Whose kernels were looked through, where the recorder said so."""
    source = transfer.facts.get(name)
    return {"kernels_of": source} if source else {}


def missing_device(transfer: Transfer) -> dict[str, Any] | None:
    """The device that the code named for the consumer does not exist here, and it ran on another."""
    return _missing(transfer, transfer.requested, transfer.dst)


def made_on_missing_device(transfer: Transfer) -> dict[str, Any] | None:
    """The device that the code named for the producer does not exist here, and it ran on another."""
    return _missing(transfer, transfer.producer_requested, transfer.src)


def _missing(transfer: Transfer, name: str, ran_on: str) -> dict[str, Any] | None:
    devices = transfer.context.devices
    missing = bool(devices) and parse(name) is not None and name not in devices and ran_on != name
    return {"missing": name, "ran_on": ran_on} if missing else None


def host_memory(transfer: Transfer) -> dict[str, Any] | None:
    """A GPU kernel keeps the argument or the result in host memory."""
    for end, other, memory, role in (
        (transfer.dst, transfer.src, "dst_memory", "argument"),
        (transfer.src, transfer.dst, "src_memory", "result"),
    ):
        kept = is_gpu(end) and transfer.fields.get(memory) == "host"
        if kept and (other == end or is_host(other)):
            return {"kept_in_host_memory": role, "device": end, "dtype": transfer.text("dtype")}
    return None


def colocation(transfer: Transfer) -> dict[str, Any] | None:
    """The consumer was kept beside a variable or resource, not where the code asked."""
    beside = transfer.facts.get("colocated_with")
    return {"colocated_with": beside} if beside and transfer.requested != transfer.dst else None


def works_at_home(transfer: Transfer) -> dict[str, Any] | None:
    """The consumer works on a variable or table, and runs where that lives, not where the code asked."""
    return _at_home(transfer) if transfer.requested and transfer.requested != transfer.dst else None


def works_away_from_default(transfer: Transfer) -> dict[str, Any] | None:
    """The consumer works on a variable or table that does not live where ops go that nobody placed."""
    return _at_home(transfer) if not transfer.requested and transfer.dst != transfer.default else None


def _at_home(transfer: Transfer) -> dict[str, Any] | None:
    name = transfer.facts.get("works_on")
    return {"colocated_with": name, "lives_on": transfer.dst} if name else None


def made_at_home(transfer: Transfer) -> dict[str, Any] | None:
    """The producer works on a table or the like, and ran where that lives, not where the code asked."""
    name = transfer.facts.get("producer_works_on")
    if not name or transfer.text("producer_op") in READS:
        return None
    asked = transfer.producer_requested or transfer.context.default(transfer.src)
    return {"producer_placed_beside": name, "lives_on": transfer.src} if asked != transfer.src else None


def made_beside_iterator(transfer: Transfer) -> dict[str, Any] | None:
    """The producer takes the next element of an input pipeline, which it can do only where that lives."""
    if transfer.text("producer_op") not in ITERATORS or transfer.producer_requested:
        return None
    return {"producer_colocated_with": "the input pipeline's iterator"}


def made_beside(transfer: Transfer) -> dict[str, Any] | None:
    """The producer asked for no device and was put beside an op that did."""
    beside = transfer.facts.get("producer_colocated_with")
    return {"producer_placed_beside": beside} if beside and not transfer.producer_requested else None


def default_placed(transfer: Transfer) -> dict[str, Any] | None:
    """Nobody asked for a device for the consumer, and it ran on the default one, away from its input."""
    if transfer.requested or not transfer.made_by_code or transfer.kind in ("upload", "pull"):
        return None
    # A backward op of which nothing is known but that it is one may have its forward op's reasons.
    if transfer.fields.get("forward_loc") and "forward_requested" not in transfer.facts:
        producer_is_backward = "producer_forward_requested" in transfer.facts
        if not producer_is_backward:
            return None
    at_home = transfer.dst == transfer.default == transfer.text("assigned")
    return {"default_device": transfer.default} if at_home and transfer.src != transfer.dst else None


def result_by_default(transfer: Transfer) -> dict[str, Any] | None:
    """What a function returns passes the default device: by an Identity of TensorFlow's own, nobody's op."""
    if not transfer.facts.get("result") or transfer.requested:
        return None
    at_home = transfer.dst == transfer.default == transfer.text("assigned") and transfer.src != transfer.dst
    return {"default_device": transfer.default, "result_of_a_call": True} if at_home else None


def result_handed_on(transfer: Transfer) -> dict[str, Any] | None:
    """And goes on from there, to the op that takes it or to be returned in its turn."""
    if not transfer.facts.get("producer_result") or transfer.producer_requested:
        return None
    default = transfer.context.default(transfer.src)
    at_home = transfer.src == default != transfer.dst
    return {"producer_default_device": default, "result_of_a_call": True} if at_home else None


def default_producer(transfer: Transfer) -> dict[str, Any] | None:
    """The code named the consumer's device but not the producer's, which ran on the default one."""
    if transfer.producer_requested or transfer.fields.get("forward_loc"):
        return None
    if transfer.kind not in ("copy", "arg"):
        return None
    if transfer.requested != transfer.dst or transfer.facts.get("producer_rewritten"):
        return None
    unknown = READS | PLUMBING | {"", "?", "_Arg"}
    if transfer.text("producer_op") in unknown or made_by_optimizer(transfer.text("producer")):
        return None
    default = transfer.context.default(transfer.src)
    return {"producer_default_device": default} if transfer.src == default != transfer.dst else None


def variable_home(transfer: Transfer) -> dict[str, Any] | None:
    """A variable's value is read on another device than the variable's."""
    variable = transfer.facts.get("variable")
    if not variable and transfer.text("producer_op") not in READS:
        return None
    # Rows that the code looks up where the table lives are a result like any other.
    if transfer.text("producer_op") == "ResourceGather" and transfer.producer_requested == transfer.src:
        return None
    known = {"variable": variable, "kept_by": transfer.facts.get("kept_by")}
    return {"lives_on": transfer.src} | {name: value for name, value in known.items() if value}


def explicit(transfer: Transfer) -> dict[str, Any] | None:
    """The code named both devices, both were given, and they differ."""
    asked = transfer.producer_requested, transfer.requested
    given = transfer.src, transfer.dst
    return {"named": list(asked)} if asked == given and asked[0] != asked[1] and all(asked) else None
