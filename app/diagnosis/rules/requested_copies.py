"""Transfers that the code asked for itself: values taken, data sent, copies called."""

from __future__ import annotations

from typing import Any

from app.diagnosis.rules.backward_ops import made_for_gradient
from app.diagnosis.rules.op_placement import explicit
from app.facts.devices import is_gpu, is_host
from app.facts.kernels.host_results import kept_on_host
from app.facts.transfers.transfer import HANDED_OVER_ON_HOST, Transfer, sent
from probes.trace.hop import ASSERTION

_READS = frozenset({"Identity", "ReadVariableOp"})
"""What a variable's own methods read it with before they give its value to Python."""
_COMPARISONS = frozenset(
    {
        "Less",
        "LessEqual",
        "Greater",
        "GreaterEqual",
        "Equal",
        "NotEqual",
        "LogicalAnd",
        "LogicalOr",
        "LogicalNot",
    }
    | {"IsNan", "IsFinite", "IsInf"}
)
PYTHON_DATA = frozenset({"Python", "Const"})


def host_sync(transfer: Transfer) -> dict[str, Any] | None:
    """Python took the value, or a variable's, which is read to the host first where no scope is open."""
    if transfer.kind != "pull":
        return _taken_after_reading(transfer)
    taken = {"taken_by": transfer.facts.get("sync") or ", ".join(transfer.consumers)}
    return taken | ({"on_a_gpu": "in host memory already"} if on_host_on_gpus(transfer) else {})


def on_host_on_gpus(transfer: Transfer) -> bool:
    """A stand-in holds the value, such as a shape, that a GPU's kernel would leave in host memory."""
    if not transfer.context.tensorflow or is_gpu(transfer.src):
        return False
    return kept_on_host(transfer.text("producer_op"), transfer.text("dtype"))


def _taken_after_reading(transfer: Transfer) -> dict[str, Any] | None:
    by = transfer.context.taken.get((transfer.fields.get("loc") or 0, transfer.dst))
    eager = transfer.kind == "copy" and not transfer.fields.get("graph")
    if not by or not eager or transfer.requested:
        return None
    variable = transfer.facts.get("variable")
    if variable and transfer.text("op") in _READS:
        return {"taken_by": by, "variable": variable}
    # ``if loss < best``: compared on the host, where nobody asked for a device, and decided by there.
    compared = transfer.text("op") in _COMPARISONS and transfer.tiny and is_host(transfer.dst)
    return {"taken_by": by} if compared and by in ("bool", ASSERTION) else None


def redundant_copy(transfer: Transfer) -> dict[str, Any] | None:
    """A copy to where the tensor is already, or of a tensor that was copied there before."""
    same_memory = transfer.fields.get("src_memory") == transfer.fields.get("dst_memory")
    if transfer.src and transfer.src == transfer.dst and same_memory:
        return {"same_device": transfer.src} | _call(transfer)
    if transfer.facts.get("copied_before"):
        return {"copied_before": transfer.facts["copied_before"]} | _call(transfer)
    if _kept_elsewhere(transfer):
        return {"sent_again": "in each call"}
    return {"copied_before": transfer.dst} | _call(transfer) if copied_again(transfer) else None


def variable_copied(transfer: Transfer) -> dict[str, Any] | None:
    """The code copies a variable of the host's to use it, as autograd records: its gradient comes back."""
    if not transfer.facts.get("autograd_copies") or not is_host(transfer.src):
        return None
    name = transfer.facts.get("variable")
    told = {"lives_on": transfer.src, "gradient_goes_back": True} | ({"variable": str(name)} if name else {})
    return told | ({"unchanged_again": True} if copied_again(transfer) else {}) | _call(transfer)


def copied_again(transfer: Transfer) -> bool:
    """Whether the code copies one array, unchanged, time and again."""
    again = transfer.kind == "copy" and not transfer.fields.get("graph")
    return again and sent(transfer.fields) in transfer.context.repeated


def sent_again(transfer: Transfer) -> bool:
    """Whether one tensor that a function captured or is given goes with nearly each of its calls."""
    return transfer.kind == "arg" and not transfer.tiny and sent(transfer.fields) in transfer.context.repeated


def _kept_elsewhere(transfer: Transfer) -> bool:
    """A constant goes with each call, or a tensor that lies where somebody put it, not merely by default."""
    if not sent_again(transfer) or made_for_gradient(transfer) is not None:
        return False  # of a gradient's, the gradient is in the wrong place, not the tensor
    # Python's data before it was made, it is a tensor since: nothing need be sent of it a second time.
    constant = transfer.of_python_data and transfer.text("dtype") not in HANDED_OVER_ON_HOST
    return bool(transfer.producer_requested) or not is_host(transfer.src) or constant


def called_copy(transfer: Transfer) -> dict[str, Any] | None:
    """The code called the copy itself."""
    return None if transfer.kind == "upload" else _call(transfer) or None


def host_upload(transfer: Transfer) -> dict[str, Any] | None:
    """Python's or numpy's data, sent by itself, as an argument of a call, or when an eager op takes it."""
    if transfer.kind == "upload":
        return {"data": "Python or numpy"}
    if transfer.text("producer_op") not in PYTHON_DATA or not is_host(transfer.src):
        return None
    if transfer.kind == "arg":
        return {"data": "Python or numpy", "argument_made_by": transfer.text("producer_op")}
    # In a graph a constant is an op like any other; and where both devices are named, the code decided.
    eager = not transfer.fields.get("graph") and explicit(transfer) is None
    return {"data": "Python or numpy"} if eager else None


def _call(transfer: Transfer) -> dict[str, Any]:
    call = transfer.facts.get("copy_call")
    return {"call": str(call)} if call else {}
