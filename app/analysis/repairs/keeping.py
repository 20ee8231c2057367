"""Values that a loop keeps: the tensors stay on the device and are taken once, after the loop."""

from __future__ import annotations

import ast

from app.analysis.repairs.change import Change, unfolded
from app.analysis.repairs.names import bindings, bound_in, called, changed_in, root_of
from app.analysis.repairs.notation import scope_for, tensorflow
from app.analysis.repairs.periods import has_condition
from app.analysis.repairs.situation import Situation
from app.analysis.repairs.source import Loop, Source, own_nodes
from app.analysis.repairs.takes import Take, together
from app.analysis.rules.placed import READS

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


def appended_to(stmt: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """The list and the item of ``losses.append(item)``."""
    call = stmt.value if isinstance(stmt, ast.Expr) else None
    if not isinstance(call, ast.Call) or called(call) != "append" or len(call.args) != 1:
        return None
    return (call.func.value, call.args[0]) if isinstance(call.func, ast.Attribute) else None


def keep_in_list(
    situation: Situation, source: Source, change: Change, stmt: ast.stmt, loop: Loop, take: Take
) -> str | None:
    """Take the list's values after the loop; the words for it, None where the list is used before that.

    The item itself is left to the caller.
    """
    found = appended_to(stmt)
    if found is None or not _is_path(found[0]):
        return None
    path, code = found[0], source.code(found[0])
    end = _end_of_use(source, path, stmt, loop)
    values, target = together(situation, take, stmt, code), _rebinding(source, path, stmt)
    if end is None or values is None or target is None or not leaves(end):
        return None
    left = any(isinstance(node, ast.Return | ast.Yield | ast.YieldFrom) for node in ast.walk(end))
    if left and target != _path_name(path):
        return None  # others may see the list before the loop is over
    tf = situation.framework == "tensorflow"
    scope = scope_for(source, end, situation.pulled_from) if tf else ""
    if scope is None:
        return None
    change.after(end, f"{target} = {values}", f"with {scope}" if scope else "")
    return f"Keeps the tensors in {code}, which hold memory until all values are taken at once after the loop"


def add_up(
    situation: Situation, source: Source, change: Change, stmt: ast.AugAssign, loop: Loop, take: Take
) -> str | None:
    """Take a sum's value after the loop, and where a condition uses it before; the words for it.

    None where each round uses the sum. What is added is left to the caller.
    """
    name = stmt.target.id if isinstance(stmt.target, ast.Name) else ""
    if not name or not isinstance(stmt.op, ast.Add | ast.Sub) or not _starts_as_number(source, name, stmt):
        return None
    single = {hop.src for hop in situation.hops if hop.kind == "pull"}
    if situation.framework == "mxnet" and len(single) > 1:
        return None
    whole = _whole(situation, take)
    early = []
    for node in ast.walk(loop):
        if isinstance(node, ast.Name) and node.id == name and node is not stmt.target:
            if not isinstance(node.ctx, ast.Load) or not has_condition(source, node, loop):
                return None
            early.append(node)
    if whole is None or not leaves(loop):
        return None
    end = loop
    while (
        (outer := source.loop_of(end)) is not None and leaves(outer) and not _named_beside(outer, end, name)
    ):
        end = outer
    for node in early:
        change.replace(node, whole.of(name))
    scope = scope_for(source, stmt, situation.pulled_from) if situation.framework == "tensorflow" else ""
    if scope is None or (scope and unfolded(source, stmt)[0] is not source):
        return None
    if scope:  # else the sum were made on the default device
        change.wrap(stmt, f"with {scope}:")
    change.after(end, f"{name} = {whole.of(name)}")
    return f"Adds {name} up on the device, in the tensors' own precision, and takes it once after the loop"


def kept(situation: Situation, source: Source, take: Take, stmt: ast.stmt, loop: Loop) -> str | None:
    """Code for a tensor that will still have its value when the loop is over; None where that is not sure."""
    code = source.code(take.value)
    if situation.framework == "tensorflow":
        tf = tensorflow(source, take.value)
        values = _first_values(source, code, stmt) if isinstance(take.value, ast.Name) else []
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


def _whole(situation: Situation, take: Take) -> Take | None:
    """How to take a sum of what was taken in this way: a number stays a number."""
    pulls = [hop for hop in situation.hops if hop.kind == "pull"]
    one_number = not pulls or all(hop.shape == "" for hop in pulls)
    if take.kind in ("int", "bool", "float"):
        name = "float" if take.kind == "float" else "int"
    elif take.kind in ("item", "asscalar") or (take.kind == "numpy" and one_number):
        name = "int" if pulls and pulls[0].dtype.startswith(("int", "uint", "bool")) else "float"
    elif take.kind in ("asnumpy", "numpy") and take.of("x") == f"x.{take.kind}()":
        return take
    else:
        return None
    if (
        take.kind == "int"
        and not all(hop.dtype.startswith(("int", "uint")) for hop in pulls)
        and situation.framework != "mxnet"
    ):
        return None  # each of the numbers was cut to a whole one
    return Take(take.node, take.value, f"{name}(", ")", name)


def _path_name(path: ast.expr) -> str:
    """The name that a list has by itself; '' for a part of something."""
    return path.id if isinstance(path, ast.Name) else ""


def _is_path(node: ast.expr) -> bool:
    """A name, or attributes and constant subscripts of one."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Constant):
            return False
        node = node.value
    return isinstance(node, ast.Name)


def _end_of_use(source: Source, path: ast.expr, stmt: ast.stmt, loop: Loop) -> Loop | None:
    """The loop after which nothing appends to the list any more, if nothing reads it before that."""
    if isinstance(path, ast.Attribute) and _read_elsewhere(source, path, stmt):
        return None
    end = loop
    own = frozenset(ast.walk(stmt))
    if _uses(end, path, own):
        return None
    while (outer := source.loop_of(end)) is not None:
        uses = _uses(outer, path, frozenset(ast.walk(end)))
        if any(_stored(source, use) for use in uses):
            return end  # a new list each time
        if uses:
            return None
        end = outer
    return end


def _uses(node: ast.AST, path: ast.expr, without: frozenset[ast.AST]) -> list[ast.AST]:
    """Where a piece of code, a part of it left out, may use the list."""
    root = root_of(path)
    parts = [part for part in ast.walk(node) if part not in without]
    keyed = {
        part.value
        for part in parts
        if isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Constant) and not _same(part, path)
    }
    if isinstance(path, ast.Attribute):
        return [part for part in parts if isinstance(part, ast.Attribute) and _same(part, path)]
    # The whole of `history` may be read or replaced too; another key of it is not this list.
    named = [part for part in parts if isinstance(part, ast.Name) and part.id == root]
    return [part for part in named if isinstance(path, ast.Name) or part not in keyed]


def _stored(source: Source, use: ast.AST) -> bool:
    parent = source.parents[use]
    return any(
        isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store)
        for node in (use, parent)
    )


def _same(one: ast.expr, other: ast.expr) -> bool:
    return ast.unparse(one) == ast.unparse(other)


def _named_beside(outer: Loop, inner: ast.stmt, name: str) -> bool:
    """Whether the outer loop names it beside the inner one."""
    inside = frozenset(ast.walk(inner))
    return any(isinstance(one, ast.Name) and one.id == name and one not in inside for one in ast.walk(outer))


def _read_elsewhere(source: Source, path: ast.Attribute, stmt: ast.stmt) -> bool:
    """Whether another function of the file reads the attribute, maybe while the loop goes on."""
    here = source.function_of(stmt)
    return any(
        isinstance(node, ast.Attribute)
        and node.attr == path.attr
        and isinstance(node.ctx, ast.Load)
        and source.scopes_of(node)[0] is not here
        for node in ast.walk(source.tree)
    )


def _starts_as_number(source: Source, name: str, stmt: ast.stmt) -> bool:
    values = _first_values(source, name, stmt)
    numbers = [isinstance(one, ast.Constant) and isinstance(one.value, int | float) for one in values]
    return bool(numbers) and all(numbers) and not _seen_by_others(source, name, stmt)


def _rebinding(source: Source, path: ast.expr, stmt: ast.stmt) -> str | None:
    """What to assign the values to, so that all who hold the list see them; None where that is unclear."""
    code = source.code(path)
    if not isinstance(path, ast.Name):
        return code
    values = _first_values(source, path.id, stmt)
    lists = [
        isinstance(one, ast.List) or (called(one) == "list" if one is not None else False) for one in values
    ]
    if not lists or not all(lists) or _seen_by_others(source, path.id, stmt):
        return None
    here = any(
        source.scopes_of(node)[0] is source.scopes_of(stmt)[0] for node in bindings(source, path.id, stmt)
    )
    return code if here else f"{code}[:]"


def _first_values(source: Source, name: str, stmt: ast.stmt) -> list[ast.expr | None]:
    """What the name is assigned, additions left out; None for a value that the text does not tell."""
    values: list[ast.expr | None] = []
    for node in bindings(source, name, stmt):
        parent = source.parents[node]
        if isinstance(parent, ast.AugAssign):
            continue
        if isinstance(parent, ast.Assign | ast.AnnAssign):
            values.append(parent.value)
            continue
        whole = source.parents.get(parent)
        pair = whole.value if isinstance(parent, ast.Tuple) and isinstance(whole, ast.Assign) else None
        fits = (
            isinstance(parent, ast.Tuple)
            and isinstance(pair, ast.Tuple)
            and len(pair.elts) == len(parent.elts)
        )
        found = None
        if fits and isinstance(parent, ast.Tuple) and isinstance(pair, ast.Tuple):
            found = next(
                value for target, value in zip(parent.elts, pair.elts, strict=True) if target is node
            )
        values.append(found)
    return values


def _seen_by_others(source: Source, name: str, stmt: ast.stmt) -> bool:
    """Whether another function reads the same name, maybe while the loop goes on."""
    same, here = bindings(source, name, stmt), source.scopes_of(stmt)[0]
    return any(
        isinstance(node, ast.Name)
        and node.id == name
        and source.scopes_of(node)[0] is not here
        and source.scopes_of(same[0])[0] is not source.scopes_of(node)[0]
        and bindings(source, name, node) == same
        for node in ast.walk(source.tree)
    )


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


def rebound(loop: Loop, name: str) -> int:
    """How many places of the loop give the name a value."""
    return sum(
        isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
        for node in ast.walk(loop)
    ) + (name in bound_in(loop) - {node.id for node in ast.walk(loop) if isinstance(node, ast.Name)})
