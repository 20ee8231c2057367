"""A taken value that gets a name in a loop: taken where the name is used, if that is not in each round."""

from __future__ import annotations

import ast

from app.fixes.code.change import Change, unfolded
from app.fixes.code.device_notation import array_class
from app.fixes.code.names import bindings
from app.fixes.code.parsed_source import Loop, is_compound, own_nodes
from app.fixes.flow import accumulators
from app.fixes.flow.host_reads import Take, is_linear, is_pure, takes, tells, without_arguments
from app.fixes.loops import kept_values, periods
from app.fixes.situation import Draft, Situation


def assigned(situation: Situation, stmt: ast.stmt) -> Draft | None:
    """``value = float(loss)``: taken where the value is needed, if that is not in each round."""
    source, loop = situation.source, situation.source.loop_of(stmt)
    found = takes(situation, stmt)
    if loop is None or not isinstance(stmt, ast.Assign) or len(found) != 1 or stmt.value is not found[0].node:
        return None
    target = stmt.targets[0]
    if (
        len(stmt.targets) != 1
        or not isinstance(target, ast.Name)
        or accumulators.rebound(loop, target.id) != 1
    ):
        return None
    uses = [
        node
        for node in ast.walk(source.scopes_of(stmt)[0])
        if isinstance(node, ast.Name) and node.id == target.id
    ]
    inside = [node for node in uses if node is not target and any(node is part for part in ast.walk(loop))]
    after = [
        node
        for node in uses
        if node is not target and node not in inside and node.lineno > (loop.end_lineno or 0)
    ]
    here = source.scopes_of(stmt)[0]
    inside.sort(key=lambda node: (node.lineno, node.col_offset))
    if any(node.lineno <= (stmt.end_lineno or 0) or source.scopes_of(node)[0] is not here for node in inside):
        return None
    if (draft := _told_together(situation, stmt, loop, found[0], inside, bool(after))) is not None:
        return draft
    return _taken_where_used(situation, stmt, loop, found[0], inside, bool(after))


def _told_together(
    situation: Situation, stmt: ast.Assign, loop: Loop, take: Take, inside: list[ast.Name], after: bool
) -> Draft | None:
    """The value and what tells it, right below, in every so many rounds."""
    source = situation.source
    block = source.block_of(stmt)
    following = block[block.index(stmt) + 1 :]
    told: list[ast.stmt] = []
    for one in following:
        if not tells(one) or not all(
            is_pure(without_arguments(node))
            for node in own_nodes(one)
            if isinstance(node, ast.Call) and node is not getattr(one, "value", None)
        ):
            break
        told.append(one)
    using = [one for one in told if any(node in set(ast.walk(one)) for node in inside)]
    covered = {part for one in using for part in ast.walk(one)}
    if after or not using or not all(node in covered for node in inside) or not is_pure(take.value):
        return None
    if (
        periods.has_condition(source, stmt, loop)
        or source.line_of(source.span(stmt)[0]) == following[0].lineno
    ):
        return None
    change = Change(source)
    if periods.step_loop(situation, stmt, 1) is not loop:
        return None
    condition = periods.condition(source, loop, change, periods.seen(situation))
    if condition is None or unfolded(source, stmt)[0] is not source:
        return None
    change.wrap(stmt, f"if {condition[0]}:", *told[: told.index(using[-1]) + 1])
    words = f"Takes and tells the value every {condition[1]} rounds of the loop instead of in each."
    return situation.draft(words, change.text())


def _taken_where_used(
    situation: Situation, stmt: ast.Assign, loop: Loop, take: Take, inside: list[ast.Name], after: bool
) -> Draft | None:
    source, change, words = situation.source, Change(situation.source), []
    name = inside[0].id if inside else source.code(stmt.targets[0])
    value = kept_values.kept(situation, source, take, stmt, loop)
    if value is None:
        return None
    change.replace(take.node, value)
    shown = sum(tells(source.statement_of(node)) for node in inside)
    for node in inside:
        said = _read_at_use(situation, change, stmt, loop, take, node, shown)
        if said is None:
            return None
        words.append(said)
    if after:
        unsure = len(bindings(source, name, stmt)) > 1  # what it is where the loop makes no round
        array = array_class(source, stmt)
        if not kept_values.leaves(loop) or (unsure and array is None):
            return None
        there = f" if isinstance({name}, {array}) else {name}" if unsure else ""
        change.after(loop, f"{name} = {take.of(name)}{there}")
        words.append(f"Takes {name} once after the loop")
    if not words:
        words.append(f"Leaves {name} on the device: nothing uses its value")
    text = "; ".join(dict.fromkeys(words))
    return situation.draft(f"{text[0]}{text[1:]}.", change.text())


def _read_at_use(
    situation: Situation, change: Change, stmt: ast.Assign, loop: Loop, take: Take, node: ast.Name, shown: int
) -> str | None:
    """Read the value at one of its uses, less often than in each iteration; return the words, or None."""
    source = situation.source
    user = source.statement_of(node)
    if user is None:
        return None
    if periods.has_condition(source, node, loop) and not periods.has_condition(source, stmt, loop):
        change.replace(node, take.of(node.id))
        return f"Takes {node.id} only where the condition holds"
    pair = kept_values.appended_to(user)
    if pair is not None and pair[1] is node:
        return kept_values.keep_in_list(situation, source, change, user, loop, take)
    adds = isinstance(user, ast.AugAssign) and is_linear(user.value, node)
    if isinstance(user, ast.AugAssign) and adds and not kept_values.recorded(source, user):
        return kept_values.add_up(situation, source, change, user, loop, take)
    alone = not is_compound(user) and unfolded(source, user)[0] is source
    shows = tells(user) and alone and periods.step_loop(situation, stmt, 1) is loop
    condition = periods.condition(source, loop, change, periods.seen(situation)) if shows else None
    if condition is None or shown > 1:
        return None  # one index has to serve both
    change.replace(node, take.of(node.id))
    change.wrap(user, f"if {condition[0]}:")
    return f"Takes and tells {node.id} every {condition[1]} rounds"
