"""An op without a GPU kernel: what does the same with ops that have one takes its place.

A scope of the host around it would mend nothing: it runs there anyway, and the copies stay.
"""

from __future__ import annotations

import ast

from app.facts.devices import is_host
from app.fixes.code.change import Change
from app.fixes.code.device_notation import tensorflow
from app.fixes.code.names import dotted
from app.fixes.code.parsed_source import Source
from app.fixes.kernels.equivalents import EQUIVALENTS, SHUFFLE, lacking
from app.fixes.situation import Draft, Situation

_HANDS_ON = frozenset({"stop_gradient", "identity"})
_WORDS = (
    "Shuffles by the order of random numbers, which GPUs have kernels for, so that nothing goes to the host:"
    " as random as before, but with a seed another order than before."
)


def shuffled(situation: Situation) -> Draft | None:
    """``tf.random.shuffle(x)`` becomes a gather by random indices; None for all other ops."""
    dtypes = [str(dtype) for dtype in situation.evidence("dtype")]
    if situation.framework != "tensorflow" or lacking(situation.evidence("kernel")) != [SHUFFLE]:
        return None
    source, line = situation.source, situation.line
    calls = [
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call)
        and node.lineno <= line <= (node.end_lineno or 0)
        and (tf := tensorflow(source, node)) is not None
        and dotted(node.func) in (f"{tf}.random.shuffle", f"{tf}.random_shuffle")
    ]
    if not any(is_host(hop.dst) and not is_host(hop.src) for hop in situation.hops):
        return None  # what it shuffles is made on the host, so that its rows or their order have to be sent
    # In the host's scope all that takes its place would run on the host too.
    if situation.evidence("on_host_as_asked") or len(calls) != 1 or not EQUIVALENTS[SHUFFLE].on_gpus(dtypes):
        return None
    call, tf = calls[0], tensorflow(source, calls[0])
    if len(call.args) != 1 or call.keywords or tf is None:
        return None  # with a seed somebody wants one order
    sized = _sized(source, call.args[0], tf)
    if sized is None:
        return None
    change = Change(source)
    order = f"{tf}.argsort({tf}.random.uniform({tf}.shape({sized})[:1]))"
    change.replace(call, f"{tf}.gather({source.code(call.args[0])}, {order})")
    return situation.draft(_WORDS, change.text())


def _sized(source: Source, value: ast.expr, tf: str) -> str | None:
    """Code of as many rows as the value, that may be evaluated once more; None for none."""
    while (
        isinstance(value, ast.Call)
        and len(value.args) == 1
        and dotted(value.func).removeprefix(f"{tf}.") in _HANDS_ON
    ):
        value = value.args[0]
    return source.code(value) if isinstance(value, ast.Name) else None
