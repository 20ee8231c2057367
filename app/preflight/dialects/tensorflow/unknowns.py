"""What a pre-flight cannot foresee, each with the line and why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from app.preflight.dialects.tensorflow.op_places import Placing
from app.preflight.dialects.tensorflow.transfers import IN_PYTHON
from app.preflight.provenance import first_steps
from probes.trace.preflight_notes import Flow

_PYTHON_OPS = ("EagerPyFunc", "PyFunc", "PyFuncStateless")
_MOST_OPS_NAMED = 8


def unforeseen(flow: Flow, placing: Placing, same_version: bool) -> Iterator[dict[str, Any]]:
    """Rows of what, site, count and why."""
    yield from _compiled(flow, placing)
    yield from _keras(flow)
    yield from _remarks(flow)
    yield from _ops(flow, placing)
    if not same_version:
        yield _row("kernels", None, 1, f"{placing.machine.table.source} is not of the script's TensorFlow")
    if not flow.steps:
        first = first_steps(flow.steps_made)
        made = f"it made no more than its first {first}" if flow.steps_made else "it applied no optimizer"
        yield _row("steps", None, 1, f"{made} before it ended: what is told is of all that ran")
    if flow.left_out:
        yield _row("ops beyond the first 20,000 lines and types", None, flow.left_out, "they were not noted")


def _compiled(flow: Flow, placing: Placing) -> Iterator[dict[str, Any]]:
    why = (
        "XLA compiles it whole for one device; which ops it keeps, and what it sends, the graph does not say"
    )
    for record in flow.records:
        function = flow.functions.get(record.function)
        if function is not None and function.compiled:
            yield _row(f"inside {function.label}", flow.site(record.loc), record.count, why)
        if record.function and function is None:
            untraced = "it was traced where the pre-flight could not note it"
            yield _row("inside a function", flow.site(record.loc), record.count, untraced)
    for number, placed in placing.functions.items():
        loc = flow.records[number].loc
        for label, line, _ in placed.expanded.compiled:
            yield _row(f"inside {label}", flow.site(line or loc), 1, why)
        for op, line in placed.expanded.opaque:
            yield _row(f"inside {op}", flow.site(line or loc), 1, "what it calls was not noted")
    for record in placing.too_large:
        yield _row(
            "inside a function", flow.site(record.loc), record.count, "it is too large to work through"
        )


def _keras(flow: Flow) -> Iterator[dict[str, Any]]:
    for remark in flow.notes:
        if remark.what == "keras-jit" and remark.facts.get("compiles"):
            why = (
                "with jit_compile='auto' Keras 3 has XLA compile its steps where it sees a GPU: what is told"
                " of them holds with jit_compile=False"
            )
            yield _row("fit and evaluate of Keras", flow.site(remark.loc), remark.count, why)
    layers = [remark for remark in flow.notes if remark.what.startswith("rnn ")]
    for remark in layers:
        if not remark.facts.get("against"):
            why = "cuDNN's kernel takes the place of the loop that ran here, with memory of its own"
            name = f"{remark.facts.get('layer')} {remark.facts.get('name')}"
            yield _row(f"inside {name}", flow.site(remark.loc), remark.count, why)
    if not layers and any(via and "/rnn.py" in via for _, via in flow.sites.values()):
        why = "where there is a GPU Keras may take cuDNN's kernel for it, which no CPU run shows"
        yield _row("LSTM and GRU layers", None, 1, why)


def _remarks(flow: Flow) -> Iterator[dict[str, Any]]:
    for remark in flow.notes:
        site = flow.site(remark.loc)
        kind, _, name = remark.what.partition(" ")
        if kind == "strategy":
            why = (
                "it takes the devices that it finds: here one CPU, there all GPUs, with exchange among them;"
                " what is told is of one replica"
            )
            yield _row(f"tf.distribute's {name}", site, remark.count, why)
        elif kind == "asks":
            why = "here there are none, so the script may do something else where there are some"
            yield _row(f"the script {remark.what}", site, remark.count, why)


def _ops(flow: Flow, placing: Placing) -> Iterator[dict[str, Any]]:
    unknown: dict[str, tuple[int, int]] = {}
    python: dict[tuple[int, bool], int] = {}
    for one in placing.ran():
        op, loc = one.op.op, one.op.loc
        if one.place.rule == "unknown-op":
            unknown[op] = (unknown.get(op, (0, 0))[0] + 1, loc)
        if op in _PYTHON_OPS:
            python[loc, op in IN_PYTHON] = python.get((loc, op in IN_PYTHON), 0) + 1
    for op, (count, loc) in list(unknown.items())[:_MOST_OPS_NAMED]:
        yield _row(op, flow.site(loc), count, "the kernel table does not know it")
    if len(unknown) > _MOST_OPS_NAMED:
        more = len(unknown) - _MOST_OPS_NAMED
        yield _row(f"{more} more ops", None, more, "the kernel table does not know them")
    for (loc, arrays), count in python.items():
        name = "tf.numpy_function" if arrays else "tf.py_function"
        within = "nothing of it is seen" if arrays else "ops that it calls are foreseen as calls outside"
        yield _row(f"inside {name}", flow.site(loc), count, f"Python runs in it, on the host: {within}")


def _row(what: str, site: str | None, count: int, why: str) -> dict[str, Any]:
    return {"what": what, "site": site, "count": count, "why": why}
