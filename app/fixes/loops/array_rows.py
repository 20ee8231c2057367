"""Rows of an array that a loop over it takes one after the other: all of them are taken at once before it."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator, Sequence

from app.fixes.code.change import Change
from app.fixes.code.names import assignment_of, called, changed_in, from_modules, keyword, root_of
from app.fixes.code.parsed_source import Source
from app.fixes.flow.host_reads import Take, takes
from app.fixes.situation import Draft, Situation

_WHOLE = {"tensorflow": "numpy", "mxnet": "asnumpy"}
"""The method that takes all of an array."""
_ONLY_ARRAYS = {"tensorflow": frozenset({"numpy"}), "mxnet": frozenset({"asscalar", "asnumpy"})}
"""Methods that nothing but the framework's own arrays have."""
_ALIKE = frozenset({"item", "tolist"})
"""Methods that numpy's rows have too."""
_NUMBERS = frozenset({"int", "float", "bool"})
_METHODS = frozenset(
    {"argmax", "argmin", "argsort", "softmax", "log_softmax", "sigmoid", "relu", "tanh", "exp", "sqrt"}
    | {"sum", "mean", "max", "min", "square", "abs", "round", "sign", "clip", "reshape", "squeeze"}
    | {"expand_dims", "transpose", "flatten", "astype", "as_in_context", "as_in_ctx", "detach"}
)
"""Methods whose result is one array, and never a list of them."""
_FUNCTIONS = _METHODS | frozenset(
    {"reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_any", "reduce_all", "clip_by_value"}
    | {"array", "constant", "convert_to_tensor", "zeros", "ones", "full", "arange", "gather", "take", "cast"}
    | {"equal", "not_equal", "greater", "less", "greater_equal", "less_equal", "logical_and", "logical_or"}
    | {"normal", "uniform", "one_hot", "identity", "stop_gradient", "concat", "stack", "log"}
    | {"dot", "batch_dot", "matmul", "tensordot", "add_n", "maximum", "minimum", "Embedding"}
)
"""The same of a framework's functions."""
_REDUCES = frozenset({"argmax", "argmin", "sum", "mean", "max", "min", "norm"})
"""Functions and methods that leave one number of each row, by their axis."""
_MOST_NAMES = 4
_Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp


@dataclasses.dataclass(frozen=True)
class _Rows:
    """A loop over arrays of which a statement in it takes each row by itself."""

    loop: ast.For
    arrays: dict[str, ast.expr]
    """The arrays, by the names that their rows have in the loop."""


def taken_before_rows(situation: Situation, stmt: ast.stmt) -> Draft | None:
    """``for p in pred: counts[int(p.asscalar())] += 1`` goes over ``pred.asnumpy()``."""
    source, rows = situation.source, _rows(situation, stmt)
    if rows is None:
        return None
    change = Change(source)
    for name in rows.arrays:
        for load in _loads(source, stmt, name):
            inside = any(one is rows.loop for one in source.ancestors(load))
            if not inside and _has_its_own(source, load, rows.loop):
                continue
            if not inside or not _left_out(situation, change, load):
                return None
    for array in rows.arrays.values():
        change.replace(array, _whole(situation, array))
    words = "Takes all rows by one fetch before the loop over them, in place of one in each of its rounds."
    return situation.draft(words, change.text())


def comprehended_rows(situation: Situation, stmt: ast.stmt) -> Draft | None:
    """``[p.asscalar() for p in pred]`` of one array: ``list(pred.asnumpy())``."""
    source = situation.source
    for take in takes(situation, stmt):
        around = (one for one in source.ancestors(take.node) if isinstance(one, _Comprehension | ast.stmt))
        whole = next(around, stmt)
        if not isinstance(whole, _Comprehension) or len(whole.generators) != 1:
            continue
        loop, inside = whole.generators[0], set(ast.walk(whole))
        found = [one for one in takes(situation, stmt) if one.node in inside]
        arrays = _arrays(situation, loop.target, loop.iter, found)
        if arrays is None or loop.is_async:
            continue
        change = Change(source)
        loads = [one for one in ast.walk(whole) if isinstance(one, ast.Name) and one.id in arrays]
        if not all(_left_out(situation, change, one) for one in loads if not isinstance(one.ctx, ast.Store)):
            return None
        alone = not isinstance(whole, ast.DictComp) and whole.elt is take.node and not loop.ifs
        if (
            alone
            and isinstance(loop.target, ast.Name)
            and (values := _values(situation, whole, take, loop.iter)) is not None
        ):
            change = Change(source)
            change.replace(whole, values)
        else:
            for array in arrays.values():
                change.replace(array, _whole(situation, array))
        words = "Takes all values of the array by one fetch, in place of one for each."
        return situation.draft(words, change.text())
    return None


def _left_out(situation: Situation, change: Change, load: ast.Name) -> bool:
    """Leave out what takes a row where that is numpy's then; False where something else is done with it."""
    call = _taking(situation.source, load)
    shapes = {part for hop in situation.hops for part in hop.shape.split("x")}
    if call is None or (called(call) == "asnumpy" and shapes <= {"", "1"}):
        return False  # a row of MXNet's is an array of one element, one of numpy's a number
    if called(call) in _ONLY_ARRAYS[situation.framework]:
        change.replace(call, load.id)
    return True


def _whole(situation: Situation, array: ast.expr) -> str:
    """Code that takes all of an array, whose rows are numbers where those of MXNet have one element."""
    taken = f"{situation.source.operand(array)}.{_WHOLE[situation.framework]}()"
    single = "1" in {hop.shape for hop in situation.hops}
    return f"{taken}.ravel()" if single and not _is_flat(situation.source, array) else taken


def _is_flat(source: Source, node: ast.expr) -> bool:
    """Whether the text tells that the array has one axis: it has reduced the rows of another."""
    if isinstance(node, ast.Name):
        made = assignment_of(source, node.id, node)
        return made is not None and made.value is not None and _is_flat(source, made.value)
    if not isinstance(node, ast.Call) or called(node) not in _REDUCES or keyword(node, "keepdims"):
        return False
    axis = keyword(node, "axis")
    return axis is not None and ast.unparse(axis.value) in ("1", "-1")


def _values(situation: Situation, whole: _Comprehension, take: Take, array: ast.expr) -> str | None:
    """Code for all the values of an array that a comprehension takes each by itself, in their own types."""
    taken = _whole(situation, array)
    pulls = [hop for hop in situation.hops if hop.kind == "pull"]
    number = {"int": ("int", "uint"), "float": ("float32", "float64")}.get(take.kind, ())
    if take.kind in _ALIKE or (number and pulls and all(hop.dtype.startswith(number) for hop in pulls)):
        taken = f"{taken}.tolist()"
    elif take.kind not in _ONLY_ARRAYS[situation.framework]:
        return None
    elif isinstance(whole, ast.ListComp):
        return f"list({taken})"
    if isinstance(whole, ast.SetComp):
        return f"set({taken})"
    return f"({taken})" if isinstance(whole, ast.GeneratorExp) else taken


def of_rows(situation: Situation) -> str | None:
    """What is said where a loop takes an array row by row; None for other values."""
    for stmt in situation.statements:
        if (rows := _rows(situation, stmt)) is not None:
            arrays = " and ".join(_whole(situation, one) for one in rows.arrays.values())
            return (
                f"The loop at {situation.file}:{rows.loop.lineno} takes row by row: take all rows by one"
                f" fetch before it ({arrays}), and go over numpy's rows."
            )
    return None


def _rows(situation: Situation, stmt: ast.stmt) -> _Rows | None:
    """The innermost loop, if all that the statement takes are rows of arrays that it goes over."""
    source, found = situation.source, takes(situation, stmt)
    loop = source.loop_of(stmt)
    if not isinstance(loop, ast.For) or not found or loop is stmt:
        return None
    arrays = _arrays(situation, loop.target, loop.iter, found)
    if arrays is None or {root_of(array) for array in arrays.values()} & changed_in(loop):
        return None
    return _Rows(loop, arrays)


def _arrays(
    situation: Situation, target: ast.expr, over: ast.expr, found: Sequence[Take]
) -> dict[str, ast.expr] | None:
    """The arrays whose rows a loop takes, by the names of these; None where it takes anything else too."""
    pairs = dict(_pairs(target, over))
    arrays: dict[str, ast.expr] = {}
    for take in found:
        name = take.value.id if isinstance(take.value, ast.Name) else ""
        methods = {called(part) for part in ast.walk(take.node)} & _ONLY_ARRAYS[situation.framework]
        if name not in pairs:
            return None
        if not _is_array(situation, pairs[name], bool(methods)) and not _sliced(situation, pairs[name]):
            return None
        arrays[name] = pairs[name]
    return arrays


def _sliced(situation: Situation, node: ast.expr) -> bool:
    """Whether the run tells that it is one tensor: to go over it slices it, in the same line."""
    pulls = [hop for hop in situation.hops if hop.kind == "pull"]
    site = f"{situation.file}:{node.lineno}"
    by_iteration = all(hop.producer_op == "StridedSlice" and hop.producer_site == site for hop in pulls)
    return isinstance(node, ast.Name | ast.Attribute) and bool(pulls) and by_iteration


def _pairs(target: ast.expr, over: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """The names that a loop gives values to, each with what it goes over for them."""
    given = over.args if isinstance(over, ast.Call) and not over.keywords else []
    if called(over) == "enumerate" and len(given) == 1:
        if isinstance(target, ast.Tuple) and len(target.elts) == 2:
            yield from _pairs(target.elts[1], given[0])
    elif called(over) == "zip":
        if isinstance(target, ast.Tuple) and len(target.elts) == len(given):
            for one, values in zip(target.elts, given, strict=True):
                yield from _pairs(one, values)
    elif isinstance(target, ast.Name):
        yield target.id, over


def _is_array(situation: Situation, node: ast.expr, by_method: bool, names: int = 0) -> bool:
    """Whether the text tells that it is one array of the framework, no list of them, and none of numpy's.

    `by_method`: its rows have a method that only the framework's have.
    """
    source = situation.source
    if isinstance(node, ast.Name):
        made = assignment_of(source, node.id, node)
        value = made.value if made is not None and names < _MOST_NAMES else None
        return value is not None and _is_array(situation, value, by_method, names + 1)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        return _is_array(situation, node.value, by_method, names)
    if isinstance(node, ast.Compare | ast.BinOp):
        sides = (node.left, node.comparators[0] if isinstance(node, ast.Compare) else node.right)
        return any(_is_array(situation, side, by_method, names) for side in sides)
    if not isinstance(node, ast.Call):
        return False
    if root_of(node.func) in from_modules(source, node, situation.framework):
        return called(node) in _FUNCTIONS
    return by_method and isinstance(node.func, ast.Attribute) and called(node) in _METHODS


def _loads(source: Source, stmt: ast.stmt, name: str) -> list[ast.Name]:
    return [
        node
        for node in ast.walk(source.scopes_of(stmt)[0])
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
    ]


def _taking(source: Source, load: ast.Name) -> ast.Call | None:
    """The call that takes the row's value, which does the same with numpy's or needs no more there."""
    parent = source.parents[load]
    if isinstance(parent, ast.Call):
        plain = parent.args == [load] and not parent.keywords and isinstance(parent.func, ast.Name)
        return parent if plain and called(parent) in _NUMBERS else None
    call = source.parents[parent] if isinstance(parent, ast.Attribute) else None
    known = {name for methods in _ONLY_ARRAYS.values() for name in methods} | _ALIKE
    plain = isinstance(call, ast.Call) and call.func is parent and not call.args and not call.keywords
    return call if plain and isinstance(call, ast.Call) and called(call) in known else None


def _has_its_own(source: Source, load: ast.Name, loop: ast.For) -> bool:
    """Whether another loop, or a comprehension, gives the name what it has there."""
    targets = [
        target
        for one in source.ancestors(load)
        if one is not loop
        for target in (
            [one.target]
            if isinstance(one, ast.For)
            else [part.target for part in one.generators]
            if isinstance(one, _Comprehension)
            else []
        )
    ]
    return any(
        isinstance(part, ast.Name) and part.id == load.id for target in targets for part in ast.walk(target)
    )
