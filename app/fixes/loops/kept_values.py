"""Values that a loop keeps: the tensors stay on the device and are taken once, after the loop."""

from __future__ import annotations

import ast

from app.facts.transfers.transfer import READS
from app.fixes.code.change import Change, unfolded
from app.fixes.code.device_notation import array_class, arrays, scope_for, tensorflow
from app.fixes.code.names import assignment_of, bindings, called, changed_in
from app.fixes.code.parsed_source import Loop, Source, own_nodes
from app.fixes.flow.accumulators import (
    end_of_use,
    first_values,
    is_path,
    named_beside,
    path_name,
    rebinding,
    starts_as_number,
    starts_empty,
)
from app.fixes.flow.host_reads import Take, together
from app.fixes.loops.periods import has_condition
from app.fixes.situation import Situation

_REUSED = frozenset(
    {
        "data",
        "grad",
        "list_data",
        "list_grad",
        "get_outputs",
        "outputs",
        "arg_arrays",
        "grad_arrays",
        "arg_dict",
    }
    | {"grad_dict", "aux_dict", "get_input_grads"}
)
"""What returns arrays that MXNet writes into again in the next round."""
_NUMBERS = frozenset({"int", "float", "item", "asscalar"})
_NARROW = frozenset({"bool", "float16", "bfloat16", "int8", "uint8", "int16", "uint16"})
"""Types in which a sum of many soon is another than Python's."""
_COMPARES = frozenset({"equal", "not_equal", "greater", "greater_equal", "lesser", "lesser_equal", "less"})


def appended_to(stmt: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """The list and the item of ``losses.append(item)``."""
    call = stmt.value if isinstance(stmt, ast.Expr) else None
    if not isinstance(call, ast.Call) or called(call) != "append" or len(call.args) != 1:
        return None
    return (call.func.value, call.args[0]) if isinstance(call.func, ast.Attribute) else None


def keep_in_list(
    situation: Situation,
    source: Source,
    change: Change,
    stmt: ast.stmt,
    loop: Loop,
    take: Take,
    inner: ast.expr | None = None,
) -> str | None:
    """Take the list's values after the loop; the words for it, None where the list is used before that.

    `inner` is the part of the item that is the taken value, all of it if none is given. The item itself is
    left to the caller.
    """
    found = appended_to(stmt)
    if found is None or not is_path(found[0]):
        return None
    path, code = found[0], source.code(found[0])
    end, target = end_of_use(source, path, stmt, loop), rebinding(source, path, stmt)
    if end is None or target is None or not leaves(end):
        return None
    new, before = code, ""
    if not starts_empty(source, path, end):  # what was there before is no tensor
        before = source.free_name("before", "values_before")
        new = target = f"{code}[{before}:]"
    left = any(isinstance(node, ast.Return | ast.Yield | ast.YieldFrom) for node in ast.walk(end))
    if left and target != path_name(path):
        return None  # others may see the list before the loop is over
    values = together(situation, take, stmt, new)
    if values is None:
        return None
    if inner is not None and inner is not found[1]:
        (start, last), (first, behind) = source.span(found[1]), source.span(inner)
        name = source.free_name("value")
        item = f"{source.text[start:first]}{name}{source.text[behind:last]}"
        values = f"[{item} for {name} in {values}]"
    tf = situation.framework == "tensorflow"
    scope = scope_for(source, end, situation.pulled_from) if tf else ""
    if scope is None:
        return None
    if before:
        change.line_before(end, f"{before} = len({code})")
    change.after(end, f"{target} = {values}", f"with {scope}" if scope else "")
    return f"Keeps the tensors in {code}, which hold memory until all values are taken at once after the loop"


def add_up(
    situation: Situation,
    source: Source,
    change: Change,
    stmt: ast.AugAssign,
    loop: Loop,
    take: Take,
    gathered: bool = False,
) -> str | None:
    """Take a sum's value after the loop, and where a condition uses it before; the words for it.

    None where each round uses the sum. What is added is left to the caller; `gathered` says that it brings
    what is taken from several devices to one.
    """
    name = stmt.target.id if isinstance(stmt.target, ast.Name) else ""
    if not name or not isinstance(stmt.op, ast.Add | ast.Sub) or not starts_as_number(source, name, stmt):
        return None
    devices = {hop.src for hop in situation.hops if hop.kind == "pull"}
    whole = whole_of(situation, take)
    if (
        whole is None
        or not stays_whole(stmt.value, whole)
        or not all(begins(situation, one) for one in first_values(source, name, stmt))
        or (situation.framework == "mxnet" and len(devices) > 1 and not gathered)
    ):
        return None
    # What is still a number, where no round was, has no methods.
    numbers_too, array = "." in whole.after, array_class(source, stmt)
    early = _early_reads(source, stmt, name, loop, numbers_too)
    scope = scope_for(source, stmt, situation.pulled_from) if situation.framework == "tensorflow" else ""
    if early is None or scope is None or not leaves(loop) or (numbers_too and array is None):
        return None
    if scope and unfolded(source, stmt)[0] is not source:
        return None
    for node in early:
        change.replace(node, whole.of(name))
    if scope:  # else the sum were made on the default device
        change.wrap(stmt, f"with {scope}:")
    there = f" if isinstance({name}, {array}) else {name}" if numbers_too else ""
    change.after(last_loop(source, loop, name), f"{name} = {whole.of(name)}{there}")
    return f"Adds {name} up on the device, in the tensors' own precision, and takes it once after the loop"


def _early_reads(
    source: Source, stmt: ast.AugAssign, name: str, loop: Loop, numbers_too: bool
) -> list[ast.Name] | None:
    """Return the reads of a sum in its loop; None if not each is conditional and certainly of a tensor."""
    named = (node for node in ast.walk(loop) if isinstance(node, ast.Name) and node.id == name)
    early = [node for node in named if node is not stmt.target]
    if not all(isinstance(node.ctx, ast.Load) and has_condition(source, node, loop) for node in early):
        return None
    summed = not has_condition(source, stmt, loop) and all(_behind(source, one, stmt, loop) for one in early)
    return early if summed or not early or not numbers_too else None  # it may be the number that it starts as


def last_loop(source: Source, loop: Loop, name: str) -> Loop:
    """Return the outermost loop around a loop in which nothing else names the sum."""
    outer = source.loop_of(loop)
    if outer is None or not leaves(outer) or named_beside(outer, loop, name):
        return loop
    return last_loop(source, outer, name)


def kept(situation: Situation, source: Source, take: Take, stmt: ast.stmt, loop: Loop) -> str | None:
    """Code for a tensor that will still have its value when the loop is over; None where that is not sure."""
    code = source.code(take.value)
    if situation.framework == "tensorflow":
        tf = tensorflow(source, take.value)
        values = first_values(source, code, stmt) if isinstance(take.value, ast.Name) else []
        variable = isinstance(take.value, ast.Attribute) or any(
            called(one) == "Variable" for one in values if one
        )
        if not variable and not any(hop.producer_op in READS for hop in situation.hops):
            return code
        # A value that was read stays what it is when the variable is assigned, not when rows of it are.
        by_rows = any(
            word in source.text.lower() for word in ("scatter", "embedding", "gather", "indexedslices")
        )
        return f"{tf}.convert_to_tensor({code})" if tf and not by_rows else None
    return f"{source.operand(take.value)}.copy()" if _written_again(source, take.value, loop) else code


def leaves(loop: ast.stmt) -> bool:
    """Whether what stands after the loop is ever reached."""
    if not isinstance(loop, ast.While) or not isinstance(loop.test, ast.Constant):
        return True
    return any(isinstance(node, ast.Break) for node in ast.walk(loop))


def recorded(source: Source, stmt: ast.stmt) -> bool:
    """Whether MXNet's autograd records the statement, which forbids changes in place."""
    return any(
        isinstance(parent, ast.With) and any(called(item.context_expr) == "record" for item in parent.items)
        for parent in source.ancestors(stmt)
    )


def whole_of(situation: Situation, take: Take) -> Take | None:
    """How to take a sum of what was taken in this way: a number stays a number.

    None where the sum on the device may be another: of numbers that Python cuts, of types too narrow for it.
    """
    pulls = [hop for hop in situation.hops if hop.kind == "pull"]
    whole = all(hop.dtype.startswith(("int", "uint")) for hop in pulls)
    # MXNet counts in whole numbers of its floats.
    whole |= situation.framework == "mxnet" and _counts(situation.source, take.value)
    cut = take.kind == "int" and not whole  # each of the numbers
    if cut or take.kind == "bool" or any(hop.dtype in _NARROW for hop in pulls):
        return None
    if situation.framework == "mxnet" and take.kind in _NUMBERS and _knows_no_float(situation, take):
        before, after = (f"{take.kind}(", ")") if take.kind in ("int", "float") else ("", "")
        taken = Take(take.node, take.value, before, f".asscalar(){after}", "asscalar")
        return taken if array_class(situation.source, take.node) else None
    one_number = not pulls or all(hop.shape == "" for hop in pulls)
    if situation.framework == "tensorflow" and take.kind in _NUMBERS and not one_number:
        return take  # Python makes no number of a tensor that has an axis
    if take.kind in ("int", "float"):
        name = take.kind
    elif take.kind in ("item", "asscalar") or (take.kind == "numpy" and one_number):
        name = "int" if pulls and pulls[0].dtype.startswith(("int", "uint")) else "float"
    elif take.kind in ("asnumpy", "numpy") and take.of("x") == f"x.{take.kind}()":
        return take
    else:
        return None
    return Take(take.node, take.value, f"{name}(", ")", name)


def stays_whole(added: ast.expr, whole: Take) -> bool:
    """Whether `int()` cuts nothing of a sum: no more than whole numbers that the text states are in it."""
    if not whole.before.startswith("int(") or not isinstance(added, ast.BinOp):
        return True
    inside = set(ast.walk(whole.node))
    beside = [node for node in ast.walk(added) if node not in inside]
    return not any(
        isinstance(node, ast.Div | ast.Call | ast.Name)
        or (isinstance(node, ast.Constant) and not isinstance(node.value, int))
        for node in beside
    )


def begins(situation: Situation, start: ast.expr | None) -> bool:
    """Whether a tensor can be added to the number that a sum starts as."""
    whole = any(hop.dtype.startswith(("int", "uint")) for hop in situation.hops if hop.kind == "pull")
    number = start.value if isinstance(start, ast.Constant) else None
    return situation.framework == "mxnet" or not whole or isinstance(number, int)


def _knows_no_float(situation: Situation, take: Take) -> bool:
    """Whether it is an array of MXNet's older kind, which neither `float()` nor `int()` takes."""
    return "asscalar" in take.after or not (arrays(situation.source, take.node) or "").endswith("np")


def _counts(source: Source, value: ast.expr) -> bool:
    """Whether it is how often something is so, as ``(pred == y).sum()``: a whole number in any type."""
    made = assignment_of(source, value.id, value) if isinstance(value, ast.Name) else None
    nodes = list(ast.walk(made.value if made is not None and made.value is not None else value))
    return any(isinstance(node, ast.Compare) or called(node) in _COMPARES for node in nodes) and not any(
        isinstance(node, ast.Div) or called(node) == "mean" for node in nodes
    )


def _behind(source: Source, node: ast.AST, stmt: ast.stmt, loop: Loop) -> bool:
    """Whether it stands below the statement, in the rounds of the same loop."""
    return source.loop_of(node) is loop and getattr(node, "lineno", 0) > (stmt.end_lineno or 0)


def _written_again(source: Source, value: ast.expr, loop: Loop) -> bool:
    """Whether MXNet may write into an array again, so that keeping it is not keeping its value."""
    if "static_alloc" in source.text or isinstance(value, ast.Attribute):
        return True
    candidates: list[ast.AST] = [value]
    if isinstance(value, ast.Name):
        names = bindings(source, value.id, value)
        inside = set(ast.walk(loop))
        if value.id in changed_in(loop) or not any(one in inside for one in names):
            return True
        stmts = [source.statement_of(one) for one in names]
        if any(isinstance(one, ast.AugAssign) for one in stmts):
            return True
        candidates += [one for one in stmts if one is not None]
    return any(
        (part.attr if isinstance(part, ast.Attribute) else called(part)) in _REUSED
        for one in candidates
        for part in own_nodes(one)
        if isinstance(part, ast.Attribute | ast.Call)
    )
