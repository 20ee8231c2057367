"""Tensors that go somewhere and come back, or go on, unchanged: they take the straight way."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from app.facts.lines import split_site
from app.fixes.code.change import Change, unfolded
from app.fixes.code.device_constants import constant_of
from app.fixes.code.device_notation import blocks_around, device_of, tensorflow, tf_device, tf_named
from app.fixes.code.names import called, dotted
from app.fixes.code.parsed_source import Function, Source, first_line, is_compound, own_nodes
from app.fixes.flow.dependents import in_blocks
from app.fixes.paths.carried_states import stays_tensor
from app.fixes.paths.original_tensors import direct, left_where_it_is
from app.fixes.scopes.distribution_strategies import has_strategy
from app.fixes.situation import Draft, Situation

_UNCHANGED = frozenset(
    {"reshape", "transpose", "identity", "expand_dims", "squeeze", "stop_gradient", "ensure_shape"}
)
"""Functions whose results hold the same values."""


def bounce(situation: Situation) -> Draft | None:
    """The tensor goes to its end by itself, without the detour."""
    source = situation.source
    if situation.framework == "tensorflow" and _hands_back(situation):
        return _called_in_scope(situation)
    if situation.framework == "tensorflow" and _arrives_too(situation):
        return None
    for line in dict.fromkeys(
        [situation.line, *(line for file, line in _lines(situation) if file == situation.file)]
    ):
        for stmt in source.statements_at(line):
            for node in own_nodes(stmt):
                change = Change(source)
                if isinstance(node, ast.Call) and (words := direct(situation, change, stmt, node)):
                    return situation.draft(words, change.text())
    if situation.framework == "tensorflow":
        return stays_tensor(situation) or _stays(situation)
    ends = [line for file, line in _lines(situation)[-1:] if file == situation.file]
    return left_where_it_is(situation, ends[0]) if ends else None


def _lines(situation: Situation) -> list[tuple[str, int]]:
    """Where the tensor leaves, where Python makes a tensor of it again, and where it comes."""
    ends = situation.evidence("lines")
    sites = [*ends[:1], *situation.evidence("tensor_again_at"), *ends[1:]]
    places = [split_site(str(site)) for site in sites]
    return [place for place in places if place is not None]


def _arrives_too(situation: Situation) -> bool:
    """Whether one statement makes both moves: run for each stop of a way, it is the last one too."""
    lines = situation.evidence("lines")
    by_python = any(hop.kind == "pull" for hop in situation.hops)
    return len(lines) > 1 and len(set(lines)) == 1 and not by_python


def _of_several_cards(situation: Situation) -> bool:
    """Whether tensors of several cards go so in turn: then no one of them is the place for all."""
    return len(situation.evidence("ways")) > 1


def _hands_back(situation: Situation) -> bool:
    """Whether what passes the default device is what a call of a function returns."""
    if situation.evidence("result_of_a_call"):
        return True
    between = [
        hop for hop in situation.hops if hop.op == "Identity" and not hop.cause.evidence.get("requested")
    ]
    calls = any("Call" in f"{hop.tensor}{hop.producer_op}" for hop in between)
    return bool(between) and calls and "identity" not in situation.source.lines[situation.line - 1]


def _called_in_scope(situation: Situation) -> Draft | None:
    """The call of the function in the scope of the device where its result goes on."""
    stations = [str(one) for one in situation.evidence("stations")]
    stmt = next((one for one in situation.statements if not is_compound(one)), None)
    if stmt is None or not stations or has_strategy(situation) or _of_several_cards(situation):
        return None
    returned = {
        hop.dst for hop in situation.others if hop.site == situation.finding.site and hop.op == "_Retval"
    }
    if returned - {stations[-1]} or any(hop.site == hop.producer_site for hop in situation.hops[:1]):
        return None  # the other results would come by way of this one's device
    stmt = _outermost(situation.source, stmt)
    source, now = unfolded(situation.source, stmt)
    moved = now(stmt)
    tf, argument = tensorflow(source, moved), tf_device(source, moved, stations[-1])
    nodes = list(own_nodes(moved))
    if tf is None or argument is None or not any(isinstance(node, ast.Call) for node in nodes):
        return None
    later = any(isinstance(node, ast.Yield | ast.YieldFrom | ast.Await | ast.Lambda) for node in nodes)
    if later or _moves_others(situation, nodes, stations[-1]):
        return None
    if any(device_of(item) is not None for parent in blocks_around(source, moved) for item in parent.items):
        return None
    change = Change(source)
    change.wrap(moved, f"with {tf}.device({argument}):")
    words = (
        f"Calls the function in the scope of {stations[-1]}, so that its result does not pass the default"
        " device; ops that it runs without a scope of their own go there too."
    )
    return situation.draft(words, change.text())


def _moves_others(situation: Situation, nodes: list[ast.AST], device: str) -> bool:
    """Whether the called function computes on another device what asks for none: it would go along."""
    names = {called(node) for node in nodes} - {""}
    return any(not op.requested and op.assigned != device for op in situation.ran.traced(names))


def _outermost(source: Source, stmt: ast.stmt) -> ast.stmt:
    """The call of the function of which the statement is all: what that returns would pass it next."""
    function = source.function_of(stmt)
    if function is None or [one for one in function.body if not _is_text(one)] != [stmt]:
        return stmt
    calls = [node for node in ast.walk(source.tree) if called(node) == function.name]
    calling = source.statement_of(calls[0]) if len(calls) == 1 else None
    return stmt if calling is None or is_compound(calling) else calling


def _is_text(stmt: ast.stmt) -> bool:
    return isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Constant)


def _stays(situation: Situation) -> Draft | None:
    """What only reshapes the tensor is done where the tensor is."""
    stations = [str(one) for one in situation.evidence("stations")]
    first = situation.hops[0] if situation.hops else None
    group = _between(situation)
    if first is None or not stations or not group or _of_several_cards(situation):
        return None
    source, device = situation.source, stations[0]
    lines = first_line(group[0]), group[-1].end_lineno or 0
    tf, argument = tensorflow(source, group[0]), tf_device(source, group[0], device)
    if tf is None or argument is None or situation.fed_from_others(*lines, device):
        return None
    change, function = Change(source), source.function_of(group[0])
    words = f"Does on {device} what changes no value; check that nothing else calls this for another device."
    decorator = _placing_decorator(source, function) if function is not None else None
    around = source.parents[group[0]]
    scope = device_of(around.items[0]) if isinstance(around, ast.With) and len(around.items) == 1 else None
    if function is not None and decorator is not None:
        if not _all_called_on(source, function.name, device):
            return None
        start = source.line_start(decorator.lineno)
        change.replace_span(start, source.line_start(decorator.lineno + 1), "")
        words = f"Drops the decorator that moves it: it runs on {device} then, where it is called."
    elif isinstance(around, ast.With) and isinstance(scope, ast.Constant) and len(around.body) == len(group):
        change.replace(scope, argument)
    elif any(unfolded(source, one)[0] is not source for one in group):
        return None
    else:
        for part in in_blocks(source, group):
            change.wrap(part[0], f"with {tf}.device({argument}):", *part[1:])
    return situation.draft(words, change.text())


def _between(situation: Situation) -> list[ast.stmt]:
    """The statements that hand the tensor on unchanged, one after the other; none where they do more."""
    source = situation.source
    last = next(
        (
            place[1]
            for hop in reversed(situation.hops)
            if (place := split_site(hop.producer_site)) and place[0] == situation.file
        ),
        0,
    )
    start = next((one for one in situation.statements if not is_compound(one)), None)
    end = next((one for one in source.statements_at(last) if not is_compound(one)), None) if last else None
    if start is None or end is None:
        return []
    block = source.block_of(start)
    if not any(one is end for one in block):
        return []
    at = next(number for number, one in enumerate(block) if one is start)
    to = next(number for number, one in enumerate(block) if one is end)
    group = block[at : to + 1]
    return group if group and all(_only_reshapes(source, one) for one in group) else []


def _only_reshapes(source: Source, stmt: ast.stmt) -> bool:
    tf = tensorflow(source, stmt)
    if not isinstance(stmt, ast.Assign | ast.AnnAssign | ast.Return) or stmt.value is None:
        return False
    calls = [node for node in ast.walk(stmt.value) if isinstance(node, ast.Call)]
    other = ast.BinOp | ast.Compare | ast.Lambda | ast.Await | ast.Yield | ast.ListComp
    # Numbers that a shape is made of may be reckoned with.
    shapes = {part for call in calls for shape in call.args[1:] for part in ast.walk(shape)}
    return (
        bool(calls)
        and all(dotted(one.func) in {f"{tf}.{name}" for name in _UNCHANGED} for one in calls)
        and not any(isinstance(node, other) for node in ast.walk(stmt.value) if node not in shapes)
    )


def _placing_decorator(source: Source, function: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.Name | None:
    """The decorator of the file that opens a device scope around a function; None where there is no such."""
    for one in function.decorator_list:
        made = [
            node
            for node in ast.walk(source.tree)
            if isinstance(node, Function) and isinstance(one, ast.Name) and node.name == one.id
        ]
        if len(made) == 1 and isinstance(one, ast.Name) and list(_scopes_in(made[0])):
            return one
    return None


def _scopes_in(node: ast.AST) -> Iterator[ast.withitem]:
    return (one for one in ast.walk(node) if isinstance(one, ast.withitem) and device_of(one) is not None)


def _all_called_on(source: Source, name: str, device: str) -> bool:
    """Whether each call of a function in the file is in the scope of a device that the text names."""
    calls = [node for node in ast.walk(source.tree) if isinstance(node, ast.Call) and called(node) == name]
    named = [next((one for one in _scopes_around(source, call)), None) for call in calls]
    return bool(calls) and all(
        one is not None and tf_named(constant_of(source, one, one)) == device for one in named
    )


def _scopes_around(source: Source, node: ast.AST) -> Iterator[ast.expr]:
    for block in blocks_around(source, node):
        for item in reversed(block.items):
            if (argument := device_of(item)) is not None:
                yield argument
