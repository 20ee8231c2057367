"""Where a statement takes a tensor's value to Python, and how that can be done later."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator

from app.facts.transfers.hops import Hop
from app.fixes.code.device_notation import arrays, tensorflow
from app.fixes.code.names import called, dotted, from_modules, root_of
from app.fixes.code.parsed_source import Source, own_nodes
from app.fixes.situation import Situation
from app.judgments.evidence import HostReadEvidence
from app.views.naming import each

_METHODS = frozenset({"numpy", "asnumpy", "asscalar", "item", "tolist"})
_BUILTINS = frozenset({"float", "int", "bool"})
_RECKONS = frozenset({"round", "abs", "float", "int"})
_WHOLE_ARRAYS = frozenset({"numpy", "asnumpy"})
_SCALAR_BYTES = 16
"""No scalar is larger: a transfer of more whose shape is told as '' has a shape that nobody knows."""
_PURE = frozenset(
    {"len", "str", "repr", "format", "round", "abs", "min", "max", "sum", "join", "zip", "range"}
    | {"time", "strftime", "perf_counter", "reduce_mean", "reduce_sum", "reduce_any", "reduce_all"}
    | {"mean", "is_nan", "isnan", "norm", "isfinite", "is_finite", "is_inf", "isinf", "any", "all"}
    | {"asarray", "array", "logical_not", "sqrt", "square", "as_default", "global_norm", "reduce_max"}
    | {"reduce_min", "cast", "detach", "tuple", "list", "get_last_lr"}
    | _METHODS
    | _BUILTINS
)
"""Calls that may be left out in most steps: they change nothing."""
_TELLING = frozenset(
    {"print", "write", "set_postfix", "set_postfix_str", "set_description", "set_description_str"}
    | {"info", "debug", "warning", "log", "log_metric", "log_metrics", "add_scalar", "scalar", "report"}
    | {"writerow"}
)
"""Calls that tell people a value."""


@dataclasses.dataclass(frozen=True)
class Take:
    """Code such as ``float(loss)``."""

    node: ast.expr
    """All of it."""
    value: ast.expr
    """The tensor."""
    kind: str
    """float, int, bool, item, asscalar, numpy, ..: the outermost of the calls."""
    plain: bool
    """Nothing is called but that, as a method of the tensor."""


def takes(situation: Situation, stmt: ast.stmt) -> list[Take]:
    """The statement's takes of the kind that the finding is about, each once."""
    found = list(_takes(situation, stmt))
    told = ways_of_reading(situation)
    alike = [take for take in found if _kinds(take.node) & told]
    return alike or found


def ways_of_reading(situation: Situation) -> set[str]:
    """How Python takes the finding's values, or waits: float, item, .."""
    evidence = situation.evidence(HostReadEvidence)
    return {*each(evidence.taken_by), *each(evidence.kind)}


def is_pure(node: ast.AST) -> bool:
    """Whether leaving a piece of code out changes nothing but what it returns."""
    return all(called(part) in _PURE for part in ast.walk(node) if isinstance(part, ast.Call)) and not any(
        isinstance(part, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom) for part in ast.walk(node)
    )


def tells(stmt: ast.AST | None) -> bool:
    """Whether a statement does nothing but tell people something, as ``print`` does."""
    return isinstance(stmt, ast.Expr) and is_telling(stmt.value)


def is_telling(node: ast.AST) -> bool:
    """Whether it is a call that tells people something."""
    return called(node) in _TELLING


def together(situation: Situation, take: Take, at: ast.AST, tensors: str) -> str | None:
    """One take in place of many: from code for a list of tensors, code for the list of their values.

    None where tensors of several shapes, types or devices, or a kind of take that has no such form, forbid
    that, and for whole arrays where the run does not tell their shape: those that lay on the host already.
    """
    pulls = [hop for hop in situation.hops if hop.kind == "pull"]
    if len({(hop.shape, hop.bytes, hop.dtype, hop.src) for hop in pulls}) > 1:
        return None
    dtype = pulls[0].dtype if pulls else ""
    size_one = not pulls or set(pulls[0].shape.split("x")) <= {"", "1"}
    if situation.framework == "tensorflow":
        tf = tensorflow(situation.source, at)
        stacked = f"{tf}.stack({tensors})" if tf else None
        flat = f"{tf}.reshape({stacked}, [-1])" if pulls and pulls[0].shape else stacked
        taken = "numpy()"
    else:
        module = arrays(situation.source, at)
        many = tensors if module and module.endswith("np") else f"*{tensors}"
        stacked = f"{module}.stack({many})" if module else None
        flat, taken = f"{stacked}.reshape(-1)", "asnumpy()"
    if stacked is None:
        return None
    if take.kind in _WHOLE_ARRAYS and take.plain:
        return f"list({stacked}.{taken})" if pulls and all(map(_has_shape, pulls)) else None
    if not size_one or take.kind not in _BUILTINS | {"item", "asscalar"}:
        return None
    values = f"{flat}.{taken}"
    whole = dtype.startswith(("int", "uint"))
    if (
        (take.kind == "int" and not whole)
        or (take.kind == "float" and whole)
        or (take.kind == "bool" and dtype != "bool")
    ):
        return f"[{take.kind}(value) for value in {values}]"
    return f"{values}.tolist()"


def _has_shape(hop: Hop) -> bool:
    """Whether the shape of what it takes is known."""
    return "?" not in hop.shape and (bool(hop.shape) or (hop.bytes or _SCALAR_BYTES + 1) <= _SCALAR_BYTES)


def _takes(situation: Situation, stmt: ast.stmt) -> Iterator[Take]:
    source = situation.source
    inside: set[ast.AST] = set()
    for node in own_nodes(stmt):
        if node in inside or not isinstance(node, ast.Call) or (value := _taken(node)) is None:
            continue
        while (deeper := _deeper(situation, value)) is not None:
            value = deeper
        if _is_pythons(source, value):
            continue  # what is taken is in it
        inside.update(ast.walk(node))
        plain = source.code(node).removeprefix(source.code(value)) == f".{called(node)}()"
        yield Take(node, value, called(node), plain)


def _deeper(situation: Situation, value: ast.expr) -> ast.expr | None:
    """The tensor in a take in a take, or in the one number of an array: ``float(x.asnumpy()[0])``."""
    if isinstance(value, ast.Subscript):
        pulls = [hop for hop in situation.hops if hop.kind == "pull"]
        first = isinstance(value.slice, ast.Constant) and value.slice.value == 0
        if not first or not pulls or {hop.shape for hop in pulls} != {"1"}:
            return None
        value = value.value
    return _taken(value) if isinstance(value, ast.Call) else None


def _is_pythons(source: Source, node: ast.expr) -> bool:
    """Return True if a value is read in an expression, so that its result is numpy's or Python's."""
    parts: list[ast.expr] = []
    match node:
        case ast.BinOp(left=left, right=right):
            parts = [left, right]
        case (
            ast.UnaryOp(operand=inner)
            | ast.Subscript(value=inner)
            | ast.Attribute(value=inner)
            | ast.ListComp(elt=inner)
            | ast.GeneratorExp(elt=inner)
        ):
            parts = [inner]
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            pass
        case ast.Call(func=ast.Attribute(attr=name) as method, args=args) if (
            name in _METHODS and not args
        ) or _is_pythons(source, method):
            return True
        case ast.Call(func=ast.Name(id=name)) if name in _BUILTINS:
            return True
        case ast.Call(func=func, args=parts):
            if dotted(func) not in _RECKONS and root_of(func) not in from_modules(
                source, node, "numpy", "math"
            ):
                return False
    return any(_is_pythons(source, part) for part in parts)


def _taken(call: ast.Call) -> ast.expr | None:
    """The tensor, or the other take, that a call takes the value of."""
    name = called(call)
    if isinstance(call.func, ast.Attribute) and name in _METHODS and not call.args and not call.keywords:
        return call.func.value
    if len(call.args) != 1 or call.keywords or isinstance(call.args[0], ast.Starred | ast.Constant):
        return None
    if isinstance(call.func, ast.Name) and name in _BUILTINS:
        return call.args[0]
    return (
        call.args[0]
        if dotted(call.func) in ("np.array", "np.asarray", "numpy.array", "numpy.asarray")
        else None
    )


def _kinds(node: ast.expr) -> set[str]:
    names = {called(part) for part in ast.walk(node)}
    return names | ({"array"} if names & {"asarray", "array"} else set())
