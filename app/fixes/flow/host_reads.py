"""Where a statement reads a tensor's value to Python, and how that can be done later."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator

from app.facts.transfers.hops import Hop
from app.fixes.code.device_notation import arrays, tensorflow
from app.fixes.code.names import called, calls_of, dotted, imported, root_of
from app.fixes.code.parsed_source import Source
from app.fixes.situation import Situation
from app.judgments.evidence import HostReadEvidence
from app.views.naming import each

_METHODS = frozenset({"numpy", "asnumpy", "asscalar", "item", "tolist"})
_BUILTINS = frozenset({"float", "int", "bool"})
_COMPUTES = frozenset({"round", "abs", "float", "int"})
_TO_NUMPY = frozenset({"np.array", "np.asarray", "numpy.array", "numpy.asarray"})
_WHOLE_ARRAYS = frozenset({"numpy", "asnumpy"})
_SCALAR_BYTES = 16
"""No scalar is larger: a transfer of more whose shape is recorded as '' has a shape that nobody knows."""
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
_REPORTS = frozenset(
    {"print", "write", "set_postfix", "set_postfix_str", "set_description", "set_description_str"}
    | {"info", "debug", "warning", "log", "log_metric", "log_metrics", "add_scalar", "scalar", "report"}
    | {"writerow"}
)
"""Calls that show people a value."""


@dataclasses.dataclass(frozen=True)
class HostRead:
    """Code such as ``float(loss)``."""

    node: ast.expr
    """All of it."""
    value: ast.expr
    """The tensor."""
    kind: str
    """float, int, bool, item, asscalar, numpy, ..: the outermost of the calls."""
    plain: bool
    """Nothing is called but that, as a method of the tensor."""


def ways_of_reading(situation: Situation) -> set[str]:
    """How Python takes the finding's values, or waits: float, item, .."""
    evidence = situation.evidence(HostReadEvidence)
    return {*each(evidence.taken_by), *each(evidence.kind)}


def host_reads(situation: Situation, stmt: ast.stmt) -> list[HostRead]:
    """The statement's host reads of the kind that the finding is about, each once."""
    found = list(_host_reads(situation, stmt))
    kinds = ways_of_reading(situation)
    return [read for read in found if _kinds(read.node) & kinds] or found


def is_pure(node: ast.AST) -> bool:
    """Whether leaving a piece of code out changes nothing but what it returns."""
    parts = list(ast.walk(node))
    return all(called(part) in _PURE for part in parts if isinstance(part, ast.Call)) and not any(
        isinstance(part, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom) for part in parts
    )


def only_reports(stmt: ast.AST | None) -> bool:
    """Whether a statement does nothing but show people something, as ``print`` does."""
    return isinstance(stmt, ast.Expr) and is_report(stmt.value)


def is_report(node: ast.AST) -> bool:
    """Whether it is a call that shows people something."""
    return called(node) in _REPORTS


def together(situation: Situation, read: HostRead, at: ast.AST, tensors: str) -> str | None:
    """One host read in place of many: from code for a list of tensors, code for the list of their values.

    None where tensors of several shapes, types or devices, or a kind of read that has no such form, forbid
    that, and for whole arrays where the run has no record of their shape: those that lay on the host already.
    """
    hops, source = situation.reads, situation.source
    if len({(hop.shape, hop.bytes, hop.dtype, hop.src) for hop in hops}) > 1:
        return None
    shape, dtype = (hops[0].shape, hops[0].dtype) if hops else ("", "")
    if situation.framework == "tensorflow":
        module, method = tensorflow(source, at), "numpy()"
        stacked = f"{module}.stack({tensors})"
        flat = f"{module}.reshape({stacked}, [-1])" if shape else stacked
    else:
        module, method = arrays(source, at), "asnumpy()"
        stacked = f"{module}.stack({'' if (module or '').endswith('np') else '*'}{tensors})"
        flat = f"{stacked}.reshape(-1)"
    if module is None:
        return None
    if read.kind in _WHOLE_ARRAYS and read.plain:
        return f"list({stacked}.{method})" if hops and all(map(_has_shape, hops)) else None
    if not set(shape.split("x")) <= {"", "1"} or read.kind not in _BUILTINS | {"item", "asscalar"}:
        return None
    whole = dtype.startswith(("int", "uint"))
    alike = {"int": whole, "float": not whole, "bool": dtype == "bool"}.get(read.kind, True)
    return f"{flat}.{method}.tolist()" if alike else f"[{read.kind}(value) for value in {flat}.{method}]"


def _has_shape(hop: Hop) -> bool:
    """Whether the shape of what it reads is known."""
    return "?" not in hop.shape and (bool(hop.shape) or (hop.bytes or _SCALAR_BYTES + 1) <= _SCALAR_BYTES)


def _host_reads(situation: Situation, stmt: ast.stmt) -> Iterator[HostRead]:
    source = situation.source
    inside: set[ast.AST] = set()
    for call in calls_of(stmt):
        value = _value_read(call) if call not in inside else None
        while value is not None and (deeper := _deeper(situation, value)) is not None:
            value = deeper
        if value is not None and not _is_pythons(source, value):  # else the host read is in it
            inside.update(ast.walk(call))
            plain = source.code(call).removeprefix(source.code(value)) == f".{called(call)}()"
            yield HostRead(call, value, called(call), plain)


def _deeper(situation: Situation, value: ast.expr) -> ast.expr | None:
    """The tensor in a read in a read, or in the one number of an array: ``float(x.asnumpy()[0])``."""
    match value:
        case ast.Subscript(value=whole, slice=ast.Constant(value=0)):
            return _value_read(whole) if {hop.shape for hop in situation.reads} == {"1"} else None
    return _value_read(value)


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
        case ast.Call(func=func, args=args):
            of_numbers = root_of(func) in imported(source, node, "numpy", "math")
            parts = args if of_numbers or dotted(func) in _COMPUTES else []
    return any(_is_pythons(source, part) for part in parts)


def _value_read(node: ast.expr) -> ast.expr | None:
    """The tensor, or the other host read, that a call reads the value of; None for other code."""
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr=name), args=[], keywords=[]) if name in _METHODS:
            return value
        case ast.Call(args=[ast.Starred() | ast.Constant()]):
            return None
        case ast.Call(func=func, args=[value], keywords=[]) if dotted(func) in _BUILTINS | _TO_NUMPY:
            return value
    return None


def _kinds(node: ast.expr) -> set[str]:
    names = {called(part) for part in ast.walk(node)}
    return names | ({"array"} if "asarray" in names else set())
