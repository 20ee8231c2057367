"""An integer product, for which TensorFlow has no GPU kernel: computed in float32, the GPU has one.

matmul_op_impl registers int32 and int64 products for the host alone. The result becomes float32 too, so all
that takes it must make a float of it anyway.
"""

from __future__ import annotations

import ast
import re

from app.fixes.code.change import Change
from app.fixes.code.device_notation import tensorflow
from app.fixes.code.names import called, dotted
from app.fixes.code.parsed_source import Function, Source
from app.fixes.kernels.replacements import shuffled
from app.fixes.situation import Draft, Situation

_INTEGERS = re.compile(r"(?:Batch)?MatMul(?:V\d)? has GPU kernels for [^;]*\bfloat32\b.* none for u?int\d+")
_SUMS = frozenset({"reduce_sum", "reduce_max", "reduce_min"})
ADVICE = "Compute it in float32, which GPUs have a kernel for: exact while no sum passes 2**24 = 16,777,216."
_WORDS = (
    "Computes the product in float32, which GPUs have a kernel for: exact while no sum passes 2**24 ="
    " 16,777,216."
)


def no_kernel(situation: Situation) -> Draft | None:
    """A product of integers is computed in float32 where floats are made of it; a shuffle gathers."""
    if situation.framework != "tensorflow" or not of_integers(situation.evidence("kernel")):
        return shuffled(situation)
    return _in_floats(situation)


def of_integers(kernels: list[str]) -> bool:
    """Whether all that has no kernel is the product of integers, and there is one of float32."""
    return bool(kernels) and all(_INTEGERS.match(kernel) for kernel in kernels)


def _in_floats(situation: Situation) -> Draft | None:
    source, line = situation.source, situation.line
    calls = [
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call)
        and dotted(node.func).rpartition(".")[2] == "matmul"
        and node.lineno <= line <= (node.end_lineno or 0)
    ]
    if len(calls) != 1 or len(calls[0].args) != 2 or any(isinstance(a, ast.Starred) for a in calls[0].args):
        return None
    product = calls[0]
    tf = tensorflow(source, product)
    if tf is None or not dotted(product.func).startswith(f"{tf}.") or not _made_floats(source, product, tf):
        return None
    change = Change(source)
    for factor in product.args:
        change.replace(factor, f"{tf}.cast({source.code(factor)}, {tf}.float32)")
    return situation.draft(_WORDS, change.text())


def _made_floats(source: Source, product: ast.Call, tf: str) -> bool:
    """Whether every use of the product is a cast to a float, of it or of a sum of it."""
    parent = source.parents[product]
    if _to_float(source, product, tf):
        return True
    if not isinstance(parent, ast.Assign) or len(parent.targets) != 1:
        return False
    name, scope = parent.targets[0], source.scopes_of(parent)[0]
    if not isinstance(name, ast.Name) or not isinstance(scope, Function):
        return False
    named = [node for node in ast.walk(scope) if isinstance(node, ast.Name) and node.id == name.id]
    uses = [node for node in named if node is not name]
    return bool(uses) and all(isinstance(one.ctx, ast.Load) and _to_float(source, one, tf) for one in uses)


def _to_float(source: Source, node: ast.expr, tf: str) -> bool:
    """Whether it is the first argument of a cast to a float, or of a sum that is."""
    call = source.parents[node]
    if not isinstance(call, ast.Call) or not call.args or call.args[0] is not node:
        return False
    if called(call) in _SUMS:
        return _to_float(source, call, tf)
    to = [dotted(one) for one in (*call.args[1:], *(one.value for one in call.keywords))]
    return dotted(call.func) == f"{tf}.cast" and to in ([f"{tf}.float32"], [f"{tf}.float64"])
