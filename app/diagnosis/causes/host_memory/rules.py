"""What kernels and calls keep in host memory."""

from __future__ import annotations

from typing import Any

from app.facts.devices import is_gpu, is_host
from app.facts.kernels.host_results import takes_on_host
from app.facts.transfers.transfer import Transfer


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
    played = transfer.context.places_ops and not is_gpu(transfer.dst) and not is_host(transfer.dst)
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
