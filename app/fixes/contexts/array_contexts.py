"""MXNet arrays on the wrong context: made on the right one, or brought there before the op."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator

from app.facts.lines import split_site
from app.fixes.code.change import Change, unfolded
from app.fixes.code.device_notation import alone, arrays, mx_context
from app.fixes.code.names import assignment_of, bindings, called, dotted, imported
from app.fixes.code.parsed_source import Source, first_line, is_compound, own_nodes
from app.fixes.contexts.array_creators import COPIES, handed_by_caller, makes_nowhere, used_elsewhere
from app.fixes.contexts.creation_contexts import drawn, made_where_used
from app.fixes.contexts.input_contexts import context_for
from app.fixes.situation import Draft, Situation

_OPS = {
    ast.Add: ("add", "plus"),
    ast.Sub: ("sub", "minus"),
    ast.Mult: ("mul",),
    ast.Div: ("div",),
    ast.Pow: ("power",),
    ast.MatMult: ("dot", "matmul"),
}

_FUNCTIONS = {"multiply": "mul", "subtract": "sub", "divide": "div"}
"""Functions that are named unlike the op that they run."""


def default_context(situation: Situation) -> Draft | None:
    """The array is made on the context of what it meets."""
    if situation.evidence("made_without_context") and (draft := made_where_used(situation)) is not None:
        return draft
    by_producer = any(hop.cause.blames == "producer" for hop in situation.hops)
    device = alone([hop.dst if by_producer else hop.src for hop in situation.hops])
    for stmt in situation.statements:
        source, now = unfolded(situation.source, stmt)
        moved = now(stmt)
        context = mx_context(source, moved, device) if device else None
        if context is None or is_compound(moved):
            continue
        near = context_for(situation, situation.source, situation.file, stmt, device) if device else None
        makers = [
            node for node in own_nodes(moved) if isinstance(node, ast.Call) and makes_nowhere(source, node)
        ]
        change = Change(source)
        target = stmt.targets[0] if isinstance(stmt, ast.Assign) else None
        if isinstance(target, ast.Name) and device and used_elsewhere(situation, target, stmt, device):
            return None
        if len(makers) == 1:
            beside = _beside(source, moved, makers[0])
            change.add_argument(makers[0], f"ctx={beside or near or context}")
            words = f"Makes the array on {device}, beside what it is used with."
            if situation.evidence("made_without_context"):
                words = f"Makes the array on {device} from the start, so that nothing crosses{drawn(makers)}."
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
    for form in (_made_there, _made_at_its_line, handed_by_caller):
        if (draft := form(situation)) is not None:
            return draft
    for stmt in situation.statements:
        pairs = list(_pairs(source, stmt, [str(op) for op in situation.evidence("ops")]))
        if len(pairs) != 1 or not _plain(pairs[0][0]):
            continue
        first, other = pairs[0]
        if _runs_on_host(situation):  # bringing the GPU's array there would take the rest along
            first, other = other, first
            if other is getattr(stmt, "target", None) or not _plain(first):
                continue
        in_numpy = (arrays(source, stmt) or "").endswith("np")
        context = f"{source.code(first)}.{'ctx' if in_numpy else 'context'}"
        change = Change(source)
        maker = _maker_of(source, other, first, stmt)
        there = alone([str(one) for one in situation.evidence("ran_on")])
        if maker is not None and isinstance(other, ast.Name) and there:
            maker = None if used_elsewhere(situation, other, stmt, there) else maker
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
            if (whole := _looped_over(source, stmt, other)) is not None:
                words += f" Where {whole} is one array, bringing that there before the loop copies once."
        return situation.draft(words, change.text())
    return None


def _runs_on_host(situation: Situation) -> bool:
    """Whether the op runs on the host for its first input, and its others are on devices."""
    ran_on = alone([str(one) for one in situation.evidence("ran_on")])
    others = [str(one) for one in situation.evidence("inputs_also_on")]
    return ran_on == "cpu:0" and bool(others) and ran_on not in others


def _made_there(situation: Situation) -> Draft | None:
    """Inputs that were made on the host for want of a context, made on the other inputs' context."""
    source = situation.source
    devices = {*situation.evidence("ran_on"), *situation.evidence("inputs_also_on")}
    device = alone(sorted(devices - {"cpu:0"}))
    if "cpu:0" not in devices or device is None:
        return None
    for stmt in situation.statements:
        names = {node.id: node for node in own_nodes(stmt) if isinstance(node, ast.Name)}
        made = {name: _maker(source, node, stmt) for name, node in names.items()}
        makers = {name: call for name, call in made.items() if call is not None}
        contexts = {
            name: context_for(situation, source, situation.file, call, device)
            for name, call in makers.items()
        }
        if not makers or None in contexts.values():
            continue
        if any(used_elsewhere(situation, names[name], stmt, device, makers) for name in makers):
            return None  # there it would meet arrays of another context then
        change = Change(source)
        for name, call in makers.items():
            change.add_argument(call, f"ctx={contexts[name]}")
        words = (
            f"Makes {' and '.join(sorted(makers))} on {device}, where the other inputs are; check where else"
        )
        return situation.draft(
            f"{words} they are used." if len(makers) > 1 else f"{words} it is used.", change.text()
        )
    return None


def _made_at_its_line(situation: Situation) -> Draft | None:
    """The array that nobody gave a context, made on the other inputs' at the line that made it."""
    place = split_site(alone([str(site) for site in situation.evidence("made_on_default_at")]))
    devices = {*situation.evidence("ran_on"), *situation.evidence("inputs_also_on")}
    device = alone(sorted(devices - {"cpu:0"}))
    source = situation.opened(place[0]) if place is not None else None
    if place is None or source is None or device is None or place == (situation.file, situation.line):
        return None
    there = dataclasses.replace(situation, file=place[0], line=place[1], source=source)
    for stmt in there.statements:
        target = stmt.targets[0] if isinstance(stmt, ast.Assign) and len(stmt.targets) == 1 else None
        makers = [
            node for node in own_nodes(stmt) if isinstance(node, ast.Call) and makes_nowhere(source, node)
        ]
        context = context_for(there, source, place[0], stmt, device)
        if context is None or len(makers) != 1 or target is None:
            continue
        if isinstance(target, ast.Name):
            elsewhere = used_elsewhere(there, target, stmt, device)
        else:
            elsewhere = not isinstance(target, ast.Attribute) or _read_elsewhere(there, target, device)
        if elsewhere:
            return None
        change = Change(source)
        change.add_argument(makers[0], f"ctx={context}")
        words = (
            f"Makes {source.code(target)} on {device}, where the other inputs are, at the line that makes it;"
            " check where else it is used."
        )
        return situation.draft(words, change.text(), place[0])
    return None


def _read_elsewhere(situation: Situation, target: ast.Attribute, device: str) -> bool:
    """Whether a line that reads an object's attribute, but for the finding's, computes on another device."""
    source = situation.source
    told = {situation.finding.site, *situation.evidence("also_at")}
    lines = {
        node.lineno
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Attribute) and node.attr == target.attr and isinstance(node.ctx, ast.Load)
    }
    return any(
        op.assigned not in ("", device) and op.type not in COPIES
        for line in lines
        if f"{situation.file}:{line}" not in told
        for op in situation.ran.computed(situation.file, line, line)
    )


def _maker(source: Source, name: ast.Name, stmt: ast.stmt) -> ast.Call | None:
    """The one call that made the array nowhere in particular; None where there is none, or several."""
    found = []
    for node in bindings(source, name.id, stmt):
        parent = source.parents[node]
        if (
            isinstance(parent, ast.Assign)
            and isinstance(parent.value, ast.Call)
            and makes_nowhere(source, parent.value)
        ):
            found.append(parent.value)
    return found[0] if len(found) == 1 else None


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
    if isinstance(stmt, ast.AugAssign) and isinstance(stmt.target, ast.Name) and _runs(stmt.op, ops):
        yield stmt.target, stmt.value
    for node in own_nodes(stmt):
        inputs: list[ast.expr] = []
        if isinstance(node, ast.BinOp) and _runs(node.op, ops):
            inputs = [node.left, node.right]
        elif isinstance(node, ast.Call) and any(_op_called(node) in op for op in ops):
            inputs = list(node.args)
            if isinstance(node.func, ast.Attribute) and not _of_a_module(source, node.func.value, stmt):
                inputs = [node.func.value, *inputs]
        elif isinstance(node, ast.Call) and len(node.args) == 2 and "loss" in dotted(node.func).lower():
            inputs = list(node.args)
        inputs = [one for one in inputs if not isinstance(one, ast.Constant | ast.UnaryOp)]
        if len(inputs) == 2 and not isinstance(inputs[1], ast.Starred):
            yield inputs[0], inputs[1]


def _looped_over(source: Source, stmt: ast.stmt, part: ast.expr) -> str | None:
    """The name of what the nearest loop takes a part from in each round; None where it has none."""
    loop = source.loop_of(stmt)
    if not isinstance(loop, ast.For) or not isinstance(part, ast.Name):
        return None
    targets, items = [loop.target], [loop.iter]
    if isinstance(loop.target, ast.Tuple):
        if not isinstance(loop.iter, ast.Call) or dotted(loop.iter.func) != "zip":
            return None
        targets, items = loop.target.elts, loop.iter.args
    for target, item in zip(targets, items, strict=False):
        if isinstance(target, ast.Name) and target.id == part.id and isinstance(item, ast.Name):
            return item.id
    return None


def _runs(operator: ast.operator, ops: list[str]) -> bool:
    """Whether one of the ops is what MXNet runs for an operator."""
    return any(part in op for op in ops for part in _OPS.get(type(operator), ()))


def _op_called(call: ast.Call) -> str:
    """A part of the name of the op that a function runs; one that is in no name for no function."""
    return _FUNCTIONS.get(called(call), called(call) or "?")


def _of_a_module(source: Source, owner: ast.expr, at: ast.AST) -> bool:
    """Whether what stands before the last point is a module, and no array."""
    return dotted(owner).partition(".")[0] in imported(source, at)


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
        or not makes_nowhere(source, made.value)
    ):
        return None
    same = source.block_of(made) is source.block_of(known)
    return made.value if same and first_line(known) < first_line(made) else None
