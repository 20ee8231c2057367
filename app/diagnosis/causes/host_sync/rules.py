"""Values that Python takes."""

from __future__ import annotations

from app.diagnosis.causes.host_sync.evidence import Evidence
from app.facts.devices import is_gpu, is_host
from app.facts.kernels.host_results import kept_on_host
from app.facts.transfers.transfer import Transfer
from app.judgments.severity import INFO, WARNING
from probes.trace.hop import ASSERTION, LIBRARYS_OWN

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


def host_sync(transfer: Transfer) -> Evidence | None:
    """Python took the value, or a variable's, which is read to the host first where no scope is open."""
    if transfer.kind != "pull":
        return _taken_after_reading(transfer)
    return Evidence(
        taken_by=transfer.facts.get("sync") or ", ".join(transfer.consumers),
        on_a_gpu="in host memory already" if on_host_on_gpus(transfer) else None,
    )


def on_host_on_gpus(transfer: Transfer) -> bool:
    """A stand-in holds the value, such as a shape, that a GPU's kernel would leave in host memory."""
    if not transfer.context.places_ops or is_gpu(transfer.src):
        return False
    return kept_on_host(transfer.text("producer_op"), transfer.text("dtype"))


def _taken_after_reading(transfer: Transfer) -> Evidence | None:
    by = transfer.context.taken.get((transfer.fields.get("loc") or 0, transfer.dst))
    eager = transfer.kind == "copy" and not transfer.fields.get("graph")
    if not by or not eager or transfer.requested:
        return None
    variable = transfer.facts.get("variable")
    if variable and transfer.text("op") in _READS:
        return Evidence(taken_by=by, variable=variable)
    # ``if loss < best``: compared on the host, where nobody asked for a device, and decided by there.
    compared = transfer.text("op") in _COMPARISONS and transfer.tiny and is_host(transfer.dst)
    return Evidence(taken_by=by) if compared and by in ("bool", ASSERTION) else None


def severity_of(transfer: Transfer, evidence: Evidence) -> str:
    """A note of what does not recur, and of what the code does not take, or GPUs have in host memory."""
    own = transfer.facts.get("sync") in LIBRARYS_OWN or on_host_on_gpus(transfer)
    return WARNING if transfer.every_step and not own else INFO
