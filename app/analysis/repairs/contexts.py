"""MXNet arrays on the wrong context: made on the right one, or brought there before the op."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from app.analysis.repairs.change import Change, unfolded
from app.analysis.repairs.names import assignment_of, called, dotted, keyword
from app.analysis.repairs.notation import alone, arrays, mx_context
from app.analysis.repairs.situation import Draft, Situation
from app.analysis.repairs.source import Source, first_line, is_compound, own_nodes

_MAKES = frozenset(
    {"zeros", "ones", "full", "empty", "arange", "eye", "linspace", "array"}
    | {"uniform", "normal", "randn", "randint", "poisson", "exponential", "gamma", "rand"}
)
_OPS = {
    ast.Add: ("add", "plus"),
    ast.Sub: ("sub", "minus"),
    ast.Mult: ("mul",),
    ast.Div: ("div",),
    ast.Pow: ("power",),
    ast.MatMult: ("dot", "matmul"),
}


def default_context(situation: Situation) -> Draft | None:
    """The array is made on the context of what it meets."""
    by_producer = any(hop.cause.blames == "producer" for hop in situation.hops)
    device = alone([hop.dst if by_producer else hop.src for hop in situation.hops])
    for stmt in situation.statements:
        source, now = unfolded(situation.source, stmt)
        moved = now(stmt)
        context = mx_context(source, moved, device) if device else None
        if context is None or is_compound(moved):
            continue
        makers = [node for node in own_nodes(moved) if isinstance(node, ast.Call) and _makes(source, node)]
        change = Change(source)
        if len(makers) == 1:
            beside = _beside(source, moved, makers[0])
            change.add_argument(makers[0], f"ctx={beside or context}")
            words = f"Makes the array on {device}, beside what it is used with."
        elif not makers and not any(
            isinstance(node, ast.Lambda | ast.Await | ast.Yield) for node in own_nodes(moved)
        ):
            change.wrap(moved, f"with {context}:")
            words = f"Makes {device} the default context of the statement; check what else it makes."
        else:
            return None
        return situation.draft(words, change.text())
    return None


def mixed_context(situation: Situation) -> Draft | None:
    """The later inputs of the op are made on, or brought to, the context of the first."""
    source = situation.source
    for stmt in situation.statements:
        pairs = list(_pairs(source, stmt, [str(op) for op in situation.evidence("ops")]))
        if len(pairs) != 1 or not _plain(pairs[0][0]):
            continue
        first, other = pairs[0]
        in_numpy = (arrays(source, stmt) or "").endswith("np")
        context = f"{source.code(first)}.{'ctx' if in_numpy else 'context'}"
        change = Change(source)
        maker = _maker_of(source, other, first, stmt)
        if maker is not None:
            change.add_argument(maker, f"ctx={context}")
            made, beside = source.code(other), source.code(first)
            words = f"Makes {made} on the context of {beside}; check where else it is used."
        else:
            method = "as_in_ctx" if in_numpy else "as_in_context"
            change.replace(other, f"{source.operand(other)}.{method}({context})")
            words = (
                f"Brings {source.code(other)} to the context of {source.code(first)}:"
                " a copy each time that it is elsewhere."
            )
        return situation.draft(words, change.text())
    return None


def _makes(source: Source, call: ast.Call) -> bool:
    """Whether the call makes an array without being told where."""
    if (
        called(call) not in _MAKES
        or keyword(call, "ctx", "device")
        or not isinstance(call.func, ast.Attribute)
    ):
        return False
    parts = dotted(call.func).split(".")
    return (
        any(part in ("nd", "ndarray", "np", "random", "sym") for part in parts[:-1])
        and not parts[0].startswith("numpy")
        and _of_mxnet(source, call, parts)
    )


def _of_mxnet(source: Source, call: ast.Call, parts: list[str]) -> bool:
    module = arrays(source, call)
    if module is None:
        return False
    return ".".join(parts).startswith(f"{module}.") or parts[0] == module.partition(".")[0]


def _beside(source: Source, stmt: ast.stmt, maker: ast.Call) -> str | None:
    """``x.context``, where the array is made right beside the x that it meets."""
    op = source.parents[maker]
    if not isinstance(op, ast.BinOp):
        return None
    other = op.right if op.left is maker else op.left
    name = "ctx" if (arrays(source, stmt) or "").endswith("np") else "context"
    return f"{source.code(other)}.{name}" if isinstance(other, ast.Name) else None


def _pairs(source: Source, stmt: ast.stmt, ops: list[str]) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The inputs of what may be the op: the first, and the one to bring to it."""
    for node in own_nodes(stmt):
        if isinstance(node, ast.BinOp) and any(
            part in op for op in ops for part in _OPS.get(type(node.op), ())
        ):
            inputs: list[ast.expr] = [node.left, node.right]
        elif isinstance(node, ast.Call) and any(called(node) and called(node) in op for op in ops):
            inputs = list(node.args)
            if isinstance(node.func, ast.Attribute) and not (arrays(source, stmt) or "?").startswith(
                dotted(node.func.value)
            ):
                inputs = [node.func.value, *inputs]
        elif isinstance(node, ast.Call) and len(node.args) == 2 and "loss" in dotted(node.func).lower():
            inputs = list(node.args)
        else:
            continue
        inputs = [one for one in inputs if not isinstance(one, ast.Constant | ast.UnaryOp)]
        if len(inputs) == 2 and not isinstance(inputs[1], ast.Starred):
            yield inputs[0], inputs[1]
    adds = isinstance(stmt, ast.AugAssign) and any(
        part in op for op in ops for part in _OPS.get(type(stmt.op), ())
    )
    if isinstance(stmt, ast.AugAssign) and isinstance(stmt.target, ast.Name) and adds:
        yield stmt.target, stmt.value


def _module(source: Source, at: ast.AST) -> str:
    """What the code's own calls of MXNet begin with."""
    return f"{(arrays(source, at) or '?').partition('.')[0]}."


def _plain(node: ast.expr) -> bool:
    """Whether naming it once more does nothing."""
    return all(
        isinstance(part, ast.Name | ast.Attribute | ast.Subscript | ast.Constant | ast.expr_context)
        for part in ast.walk(node)
    )


def _maker_of(source: Source, other: ast.expr, first: ast.expr, stmt: ast.stmt) -> ast.Call | None:
    """The call that made the array nowhere in particular, when the other input was there already."""
    if not isinstance(other, ast.Name) or not isinstance(first, ast.Name):
        return None
    made, known = assignment_of(source, other.id, stmt), assignment_of(source, first.id, stmt)
    if (
        made is None
        or known is None
        or not isinstance(made.value, ast.Call)
        or not _makes(source, made.value)
    ):
        return None
    same = source.block_of(made) is source.block_of(known)
    return made.value if same and first_line(known) < first_line(made) else None
