"""Transfers because of where producer or consumer were placed, and by what."""

from __future__ import annotations

from typing import Any

from app.diagnosis.wording.scope_openers import library
from app.facts.devices import is_gpu, is_host, parse
from app.facts.kernels.host_results import takes_on_host
from app.facts.kernels.tensorflow_table import without_gpu_kernel
from app.facts.transfers.transfer import PLUMBING, READS, Transfer, made_by_optimizer

ITERATORS = frozenset(
    {"IteratorGetNext", "IteratorGetNextSync", "IteratorGetNextAsOptional", "OptionalHasValue"}
    | {"OptionalGetValue", "MultiDeviceIteratorGetNextFromShard"}
)


def no_kernel(transfer: Transfer) -> dict[str, Any] | None:
    """The recorder looked the kernel up and there was none."""
    if not transfer.facts.get("no_kernel"):
        return None
    known = {"kernel": transfer.facts["no_kernel"], "dtype": transfer.text("dtype")}
    return known | _looked_up(transfer, "kernel_from")


def made_without_kernel(transfer: Transfer) -> dict[str, Any] | None:
    """The producer has no kernel for the requested device, so it ran here and its result goes back."""
    kernel = transfer.facts.get("producer_no_kernel")
    if not kernel:
        return None
    told = _looked_up(transfer, "producer_kernel_from")
    known = {"kernel": kernel, "dtype": transfer.text("dtype")}
    return known | told | {"producer_requested": transfer.producer_requested}


def on_host_as_asked(transfer: Transfer) -> dict[str, Any] | None:
    """The code asks for the host for the consumer, which no GPU has a kernel of: no scope spares the copy."""
    to_host = is_gpu(transfer.src) and is_host(transfer.dst) and transfer.requested == transfer.dst
    if not to_host or transfer.producer_requested or variable_home(transfer) is not None:
        return None
    return _as_asked(transfer, transfer.text("op"), "host_only")


def made_on_host_as_asked(transfer: Transfer) -> dict[str, Any] | None:
    """The same of the producer, whose result goes to a GPU."""
    to_gpu = is_host(transfer.src) and is_gpu(transfer.dst) and transfer.producer_requested == transfer.src
    if not to_gpu or transfer.requested:
        return None
    return _as_asked(transfer, transfer.text("producer_op"), "producer_host_only")


def _as_asked(transfer: Transfer, op: str, fact: str) -> dict[str, Any] | None:
    if transfer.kind not in ("copy", "arg") or not transfer.context.tensorflow:
        return None
    kernel = transfer.facts.get(fact) or without_gpu_kernel(op)
    return {"kernel": kernel, "dtype": transfer.text("dtype"), "on_host_as_asked": True} if kernel else None


def _looked_up(transfer: Transfer, name: str) -> dict[str, Any]:
    """Whose kernels were looked through, where the recorder said so."""
    source = transfer.facts.get(name)
    return {"kernels_of": source} if source else {}


def missing_device(transfer: Transfer) -> dict[str, Any] | None:
    """The device that the code named for the consumer does not exist here, and it ran on another."""
    return _missing(transfer, transfer.requested, transfer.dst)


def made_on_missing_device(transfer: Transfer) -> dict[str, Any] | None:
    """The device that the code named for the producer does not exist here, and it ran on another.

    Not of a variable's value, which is read where that lives.
    """
    if transfer.text("producer_op") in READS:
        return None
    return _missing(transfer, transfer.producer_requested, transfer.src)


def _missing(transfer: Transfer, name: str, ran_on: str) -> dict[str, Any] | None:
    devices = transfer.context.devices
    missing = bool(devices) and parse(name) is not None and name not in devices and ran_on != name
    return {"missing": name, "ran_on": ran_on} if missing else None


def handed_over_on_host(transfer: Transfer) -> dict[str, Any] | None:
    """Functions take and return some types in host memory, wherever the tensor lay or is used."""
    lay, returned = transfer.facts.get("argument_lay_on"), transfer.facts.get("result_of_function")
    if not is_host(transfer.src) or not (lay or returned):
        return None
    kept = {"kept_in_host_memory": "result" if returned else "argument", "dtype": transfer.text("dtype")}
    made = {"argument_made_by": transfer.text("producer_op"), "handed_over": True}
    return kept | made | ({"lay_on": lay} if lay and not returned else {})


def taken_on_host_by_gpus(transfer: Transfer) -> dict[str, Any] | None:
    """A stand-in is sent what a GPU's kernel of the op would take from host memory, as it is."""
    slots = transfer.facts.get("input_slots")
    played = transfer.context.tensorflow and not is_gpu(transfer.dst) and not is_host(transfer.dst)
    if not played or not is_host(transfer.src) or not isinstance(slots, list):
        return None
    op, dtype = transfer.text("op"), transfer.text("dtype")
    if not slots or not all(isinstance(slot, int) and takes_on_host(op, slot, dtype) for slot in slots):
        return None
    return {"kept_in_host_memory": "argument", "dtype": dtype, "on_a_gpu": "stays in host memory"}


def host_memory(transfer: Transfer) -> dict[str, Any] | None:
    """A GPU kernel keeps the argument or the result in host memory."""
    for end, other, memory, role in (
        (transfer.dst, transfer.src, "dst_memory", "argument"),
        (transfer.src, transfer.dst, "src_memory", "result"),
    ):
        kept = is_gpu(end) and transfer.fields.get(memory) == "host"
        if kept and (other == end or is_host(other)):
            maker = (
                {"kept_by_kernel_of": transfer.facts.get("kept_by_kernel_of") or transfer.text("producer_op")}
                if role == "result"
                else {}
            )
            return {"kept_in_host_memory": role, "device": end, "dtype": transfer.text("dtype")} | maker
    return None


def preferred_on_host(transfer: Transfer) -> dict[str, Any] | None:
    """TensorFlow has kernels of the op for GPUs too, and gives those for the host precedence."""
    # optional_ops.cc registers this one so; Keras' loop hands on what a step returns by it.
    known = transfer.text("op") == "OptionalFromValue" and not transfer.requested
    prefers = transfer.facts.get("preferred_on_host") or known
    to_host = is_gpu(transfer.src) and is_host(transfer.dst)
    return {"kept_in_host_memory": "argument", "prefers_host": True} if prefers and to_host else None


def made_rather_on_host(transfer: Transfer) -> dict[str, Any] | None:
    """So the producer's result comes from there."""
    prefers = transfer.facts.get("producer_preferred_on_host")
    if not prefers or not is_host(transfer.src) or not is_gpu(transfer.dst):
        return None
    return {"kept_in_host_memory": "result", "prefers_host": True}


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
    asked = transfer.producer_requested or transfer.producer_default
    return {"producer_placed_beside": name, "lives_on": transfer.src} if asked != transfer.src else None


def made_beside_iterator(transfer: Transfer) -> dict[str, Any] | None:
    """The producer takes the next element of an input pipeline, which it can do only where that lives."""
    asked = transfer.producer_requested
    if transfer.text("producer_op") not in ITERATORS or asked == transfer.src:
        return None
    home = {"lives_on": transfer.src} if asked else {}
    return {"producer_colocated_with": "the input pipeline's iterator"} | home


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
    if transfer.called_on:
        return None  # then somebody did ask: for the whole call
    if is_host(transfer.src) and is_gpu(transfer.dst) and variable_home(transfer) is not None:
        return None  # a GPU is where it should run: it is the variable that is elsewhere
    at_home = transfer.dst == transfer.default == transfer.text("assigned")
    return {"default_device": transfer.default} if at_home and transfer.src != transfer.dst else None


def result_by_default(transfer: Transfer) -> dict[str, Any] | None:
    """What a function returns passes the default device: by an Identity of TensorFlow's own, nobody's op."""
    if not transfer.facts.get("result") or transfer.requested:
        return None
    at_home = transfer.dst == transfer.default == transfer.text("assigned") and transfer.src != transfer.dst
    found = {"default_device": transfer.default} | _result(transfer.facts["result"])
    return found | called_in_scope(transfer.called_on) if at_home else None


def result_handed_on(transfer: Transfer) -> dict[str, Any] | None:
    """And goes on from there, to the op that takes it or to be returned in its turn."""
    if not transfer.facts.get("producer_result") or transfer.producer_requested:
        return None
    default = transfer.producer_default
    at_home = transfer.src == default != transfer.dst
    found = {"producer_default_device": default} | _result(transfer.facts["producer_result"])
    return found | called_in_scope(transfer.producer_called_on) if at_home else None


def _result(of: object) -> dict[str, Any]:
    """Of a function that the code calls, or of a branch or loop, which is none to the code."""
    return {"result_of_a_call": True} | ({"result_of": str(of)} if isinstance(of, str) else {})


def default_producer(transfer: Transfer) -> dict[str, Any] | None:
    """The code named the consumer's device but not the producer's, which ran on the default one."""
    if transfer.producer_requested or transfer.fields.get("forward_loc"):
        return None
    if transfer.kind not in ("copy", "arg"):
        return None
    wanted = transfer.requested or (transfer.called_on if transfer.kind == "arg" else "")
    if wanted != transfer.dst or not _made_by_code(transfer):
        return None
    if transfer.producer_called_on:
        return None
    default = transfer.context.default(transfer.src)
    if transfer.src != default or default == transfer.dst:
        return None
    cut: dict[str, Any] = {"cut_on_host": default} if transfer.is_part_of_batch else {}
    if transfer.of_python_data:
        cut["of_python_data"] = True
    return (
        {"producer_default_device": default}
        | cut
        | ({} if transfer.requested else called_in_scope(transfer.called_on))
    )


def _made_by_code(transfer: Transfer) -> bool:
    """Whether the producer is an op of the code's own, so that it has a reason to be where it is."""
    unknown = READS | PLUMBING | {"", "?", "_Arg"}
    return not (
        transfer.facts.get("producer_rewritten")
        or transfer.text("producer_op") in unknown
        or made_by_optimizer(transfer.text("producer"))
    )


def called_in_scope(device: str) -> dict[str, Any]:
    """That the default device is that of the scope around the function's call."""
    return {"called_on": device} if device else {}


def variable_home(transfer: Transfer) -> dict[str, Any] | None:
    """A variable's value is read on another device than the variable's."""
    variable = transfer.facts.get("variable")
    if not variable and transfer.text("producer_op") not in READS:
        return None
    # Rows that the code looks up where the table lives are a result like any other.
    if transfer.text("producer_op") == "ResourceGather" and transfer.producer_requested == transfer.src:
        return None
    told = ("kept_by", "created_at", "created_in")
    known = {"variable": variable} | {name: transfer.facts.get(name) for name in told}
    rows = {"rows": True} if transfer.text("producer_op") == "ResourceGather" else {}
    return {"lives_on": transfer.src} | rows | {name: value for name, value in known.items() if value}


def explicit(transfer: Transfer) -> dict[str, Any] | None:
    """The code named both devices, both were given, and they differ."""
    asked = transfer.producer_requested, transfer.requested
    given = transfer.src, transfer.dst
    if asked == given and asked[0] != asked[1] and all(asked):
        return {"named": list(asked)} | _by_libraries(transfer)
    return None


def takes_a_result(transfer: Transfer) -> dict[str, Any] | None:
    """The code named the consumer's device, and what it takes was made by a function's ops elsewhere.

    Of what a function put on the default device by default that op's own place is the question; but for
    the host: who asks for that wants the value there.
    """
    if not transfer.facts.get("made_by_function") or transfer.producer_requested:
        return None
    by_default = transfer.src == transfer.context.default(transfer.src) and not is_host(transfer.dst)
    if transfer.requested != transfer.dst or transfer.src == transfer.dst or by_default:
        return None
    return {"result_on": transfer.src} | _by_libraries(transfer)


def called_elsewhere(transfer: Transfer) -> dict[str, Any] | None:
    """One end, or both, were placed by the scope that their function was called in."""
    called = transfer.producer_called_on, transfer.called_on
    producer, consumer = transfer.producer_requested or called[0], transfer.requested or called[1]
    if transfer.fields.get("forward_loc") or transfer.src == transfer.dst or not any(called):
        return None
    if (producer, consumer) != (transfer.src, transfer.dst):
        return None
    if (called[1] and not transfer.made_by_code) or (called[0] and not _made_by_code(transfer)):
        return None
    roles = [role for role, device in zip(("producer", "consumer"), called, strict=True) if device]
    return {"named": [producer, consumer], "placed_by_call": roles} | _by_libraries(transfer)


def _by_libraries(transfer: Transfer) -> dict[str, Any]:
    """Which library opened the scopes, where it was not the code."""
    names = ("producer_scope_opener", "scope_opener")
    found = [library(str(opener)) for name in names if (opener := transfer.facts.get(name))]
    return {"placed_by": " and ".join(dict.fromkeys(found))} if found else {}
