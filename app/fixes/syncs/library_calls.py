"""Functions of libraries that take values or wait by themselves: what can be done about some of them."""

from __future__ import annotations

import ast

from app.fixes.code.device_notation import arrays
from app.fixes.code.names import called, keyword
from app.fixes.situation import Situation
from app.fixes.syncs.tensorflow_summaries import of_summary
from app.views.naming import some_of

_CONTRIB = "(mxnet/ndarray/contrib.py)"
_MONITOR = "(mxnet/monitor.py)"


def of_library(situation: Situation) -> str | None:
    """What to do where such a function takes the values, or waits; None where it is none of these."""
    if (said := of_summary(situation)) is not None:
        return said
    inside = [str(function) for function in situation.evidence("inside")]
    if situation.framework != "mxnet" or not inside:
        return None
    if all(function.endswith(_MONITOR) for function in inside):
        return _of_monitor(situation)
    stmt = next(iter(situation.statements), situation.source.tree)
    nd = arrays(situation.source, stmt) or "mx.nd"
    if inside == [f"while_loop {_CONTRIB}"]:
        return (
            "Outside of a hybridized block while_loop takes its condition as a number before each turn, and"
            " waits for it. Make a fixed number of turns instead, each on the device: compute the new states,"
            f" and choose by {nd}.where, by the condition in their shape, between them and the old ones."
        )
    if inside == [f"cond {_CONTRIB}"]:
        return (
            "Outside of a hybridized block cond takes its condition as a number, and waits for it. Where both"
            f" results can be computed, choose between them on the device: {nd}.where(condition, then, else)."
        )
    return None


def _of_monitor(situation: Situation) -> str:
    """MXNet's Monitor waits for all arrays in each batch that its interval has it watch."""
    made = [
        f"{file}:{node.lineno}"
        for file in dict.fromkeys([situation.file, *situation.files])
        if (source := situation.opened(file)) is not None
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call)
        and called(node) == "Monitor"
        and (node.args or keyword(node, "interval"))
    ]
    where = f", made at {some_of(made, 'lines')}," if made else ""
    return (
        f"The monitor{where} waits for all arrays in each batch that it watches, and takes its statistics to"
        " Python: give it a larger interval, the first argument of Monitor. In the other batches tic() and"
        " toc() wait for nothing."
    )
