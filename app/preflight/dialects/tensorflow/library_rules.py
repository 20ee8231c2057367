"""What cuDNN, XLA and a strategy's exchange would do where there are GPUs: decided by rules, not by placing.

Each prediction has its rule, whose rule that is, and how far to trust it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from app.preflight.dialects.tensorflow.inlined_functions import Expanded, TooLarge, live
from app.preflight.dialects.tensorflow.op_places import Placing
from app.preflight.provenance import HIGH, MEDIUM
from app.views import units
from probes.trace.preflight_notes import Flow, Function, Remark, Tensor

_CUDNN_RULE = (
    "Keras takes cuDNN's kernel for an LSTM or GRU with activation tanh, recurrent_activation sigmoid and a"
    " bias, neither recurrent_dropout nor unroll, and with a GRU's reset_after"
)
_XLA_RULE = "XLA compiles a function whole: an op inside that it has no GPU kernel for is an error"
_EXCHANGE_RULE = (
    "each replica sums its gradients with those of all others before it applies them; in a ring each of N"
    " GPUs sends 2 (N - 1) / N of their bytes"
)
_KERAS_STEPS = ("one_step_on_data",)
_MIRRORED = ("MirroredStrategy",)
_IN_XLA = frozenset(
    {"PartitionedCall", "StatefulPartitionedCall", "Placeholder", "Merge", "NoOp", "Assert", "Const"}
)
"""Ops that XLA puts others in the place of, or drops."""
_MOST_OPS_NAMED = 4


def predicted(flow: Flow, placing: Placing, gpus: int, same_version: bool) -> list[dict[str, Any]]:
    """Rows of what, site, severity, rule, source, confidence and why no more of that ('' for high)."""
    rows = []
    for remark in flow.notes:
        if remark.what.startswith("rnn "):
            rows.append(_recurrent(flow, remark))
        elif remark.what == "keras-jit":
            rows += _keras_compiled(flow, placing, remark, same_version)
        elif remark.what.startswith("all-reduce "):
            rows += _exchanged(flow, remark, gpus)
    rows += _compiled(flow, placing, same_version)
    # A function that was traced again says the same again.
    found: dict[tuple[str, str | None], dict[str, Any]] = {}
    for row in rows:
        found.setdefault((row["what"], row["site"]), row)
    return list(found.values())


def _row(
    what: str, site: str | None, severity: str, rule: str, source: str, trust: tuple[str, str]
) -> dict[str, Any]:
    return {
        "what": what,
        "site": site,
        "severity": severity,
        "rule": rule,
        "source": source,
        "confidence": trust[0],
        "why": trust[1],
    }


# -- cuDNN ---------------------------------------------------------------------------------------------------


def _recurrent(flow: Flow, remark: Remark) -> dict[str, Any]:
    """Which kernel a recurrent layer of Keras would get."""
    facts = remark.facts
    layer = f"{facts.get('layer')} {facts.get('name')}"
    source = f"Keras {facts.get('keras')}'s LSTM and GRU layers"
    against = [str(one) for one in facts.get("against") or ()]
    severity, trust = "warning" if against else "info", (HIGH, "")
    if against:
        what = f"{layer} will not use cuDNN's kernel, but a loop of many small ops: {'; '.join(against)}"
    elif not facts.get("masked"):
        what = f"{layer} will use cuDNN's kernel: its ops are told here as the loop that it is on a CPU"
    else:
        otherwise = "fails" if facts.get("keras") == 3 else "goes on without it"
        what = f"{layer} will use cuDNN's kernel if its mask pads on the right only; else it {otherwise}"
        trust = MEDIUM, "which steps are masked is known only from the data"
    return _row(what, flow.site(remark.loc), severity, _CUDNN_RULE, source, trust)


# -- XLA -----------------------------------------------------------------------------------------------------


def _compiled(flow: Flow, placing: Placing, same_version: bool) -> Iterator[dict[str, Any]]:
    """What the code itself has XLA compile, and XLA cannot on a GPU."""
    for function in flow.functions.values():
        if function.compiled:
            of = f"{function.label} (jit_compile=True)"
            yield from _refused(flow, placing, function, of, same_version)


def _keras_compiled(
    flow: Flow, placing: Placing, remark: Remark, same_version: bool
) -> Iterator[dict[str, Any]]:
    """What Keras would have XLA compile by itself."""
    if not remark.facts.get("compiles"):
        return
    model = str(remark.facts.get("model"))
    refused = []
    for function in flow.functions.values():
        if function.label in _KERAS_STEPS and not function.compiled:
            refused += list(_refused(flow, placing, function, f"fit of {model}", same_version))
    yield from refused
    if not refused:
        what = (
            f"fit of {model} will be compiled by XLA: device scopes inside count for nothing then, and"
            " nothing crosses inside; compile(jit_compile=False) keeps it as it is told here"
        )
        rule = "compile(jit_compile='auto') has XLA compile the step of a model whose layers all allow it"
        source = "Keras 3's Trainer.compile"
        yield _row(what, flow.site(remark.loc), "info", rule, source, (HIGH, ""))


def _refused(
    flow: Flow, placing: Placing, function: Function, of: str, same_version: bool
) -> Iterator[dict[str, Any]]:
    """The ops of a function that XLA compiles for no GPU, by line."""
    table = placing.machine.table
    if not table.xla:
        return
    try:
        # As if its parts were not compiled: all of it is.
        functions = {name: dataclasses.replace(one, compiled=False) for name, one in flow.functions.items()}
        expanded = Expanded(dataclasses.replace(function, compiled=False), functions)
    except TooLarge:
        return
    lines: dict[int, dict[str, None]] = {}
    for number in sorted(live(expanded.ops, expanded.results)):
        op = expanded.ops[number]
        if op.op not in table.xla and op.op in table.ops and op.op not in _IN_XLA:
            lines.setdefault(op.loc, {})[op.op] = None
    trust = (HIGH, "") if same_version else (MEDIUM, "the table is of another version of TensorFlow")
    for loc, found in lines.items():
        named = ", ".join(list(found)[:_MOST_OPS_NAMED])
        more = len(found) - _MOST_OPS_NAMED
        what = (
            f"{of} will fail: XLA cannot compile {named}{f' and {more} more' if more > 0 else ''} for a GPU"
        )
        yield _row(what, flow.site(loc), "error", _XLA_RULE, table.source, trust)


# -- exchange ------------------------------------------------------------------------------------------------


def _exchanged(flow: Flow, remark: Remark, gpus: int) -> Iterator[dict[str, Any]]:
    """What replicas on all GPUs would sum, of a strategy that had one device here."""
    tensors = [Tensor(*one) for one in remark.facts.get("tensors") or ()]
    strategy = str(remark.facts.get("strategy"))
    if strategy not in _MIRRORED or not tensors:
        return
    sizes = [tensor.bytes for tensor in tensors]
    if gpus < 2:
        what = f"{strategy} has one replica on one GPU: nothing is exchanged; --gpus tells of more"
        yield _row(what, flow.site(remark.loc), "info", _EXCHANGE_RULE, "tf.distribute", (HIGH, ""))
        return
    total = sum(size or 0 for size in sizes)
    known = "" if None not in sizes else "at least "
    sent = total * 2 * (gpus - 1) // gpus
    what = (
        f"{strategy} will have {gpus} replicas, if it finds {gpus} GPUs: each step sums"
        f" {known}{units.size(total)} of {units.plural(len(tensors), 'tensor')} over them,"
        f" {known}{units.size(sent)} sent by each"
    )
    why = "NCCL may take a tree for small tensors, and the strategy reduces otherwise where it is told to"
    yield _row(what, flow.site(remark.loc), "info", _EXCHANGE_RULE, "tf.distribute", (MEDIUM, why))
