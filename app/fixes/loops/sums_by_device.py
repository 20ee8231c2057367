"""Sums of values of several devices, such as a norm of all gradients: one sum a device, one fetch."""

from __future__ import annotations

import ast

from app.facts.devices import in_order
from app.fixes.code.change import Change, unfolded
from app.fixes.code.device_notation import arrays
from app.fixes.code.parsed_source import own_nodes
from app.fixes.flow.accumulators import named_beside, starts_as_number
from app.fixes.flow.host_reads import takes
from app.fixes.loops.kept_values import last_loop, leaves, recorded, whole_of
from app.fixes.situation import Draft, Situation
from app.views.naming import some_of


def summed_by_device(situation: Situation, stmt: ast.stmt) -> Draft | None:
    """``total += float((g ** 2).sum().asscalar())`` for arrays of several contexts: a sum on each of them."""
    source, loop, found = situation.source, situation.source.loop_of(stmt), takes(situation, stmt)
    if situation.framework != "mxnet" or loop is None or len(found) != 1 or len(_devices(situation)) < 2:
        return None
    match stmt:
        case ast.AugAssign(target=ast.Name() as target, op=ast.Add()) if stmt.value is found[0].node:
            take = found[0]
        case _:
            return None
    whole = whole_of(situation, take)
    if whole is None or take.kind not in ("float", "int", "item", "asscalar") or not leaves(loop):
        return None
    if named_beside(loop, stmt, target.id) or not starts_as_number(source, target.id, stmt):
        return None
    if recorded(source, stmt) or unfolded(source, stmt)[0] is not source:
        return None
    end = last_loop(source, loop, target.id)
    numpys = (arrays(source, stmt) or "").endswith("np")
    move, where = ("as_in_ctx", "ctx") if numpys else ("as_in_context", "context")
    value, sums = source.free_name("value"), source.free_name("sums", "device_sums")
    added = f"{sums}[{value}.{where}] = {sums}.get({value}.{where}, 0) + {value}"
    joined = whole.of(f"sum(one.{move}({value}.{where}) for one in {sums}.values())")
    change = Change(source)
    change.line_before(end, f"{sums} = {{}}")
    change.line_before(stmt, f"{value} = {source.code(take.value)}")
    change.replace(stmt, added)
    change.after(end, f"{target.id} += {joined}", f"if {sums}")
    words = (
        f"Adds up on each device what lies there, in the arrays' own precision, and takes {target.id} by one"
        " fetch after the loop."
    )
    return situation.draft(words, change.text())


def of_many_summed(situation: Situation) -> str | None:
    """What is said where each step takes many values only to add them up; None for others."""
    devices, in_step = _devices(situation), sum(hop.each or 0 for hop in situation.hops if hop.kind == "pull")
    if in_step < 2:
        return None
    for stmt in situation.statements:
        found = takes(situation, stmt)
        if len(found) != 1 or in_step < 2 * len(devices) or not _added_up(situation, stmt, found[0].node):
            continue
        if len(devices) == 1:
            return (
                f"Each step takes {in_step:.0f} values only to add them up: add them up on the device and"
                " take the sum by one fetch."
            )
        return (
            f"Each step takes {in_step:.0f} values only to add them up: add up on each of"
            f" {some_of(in_order(devices), 'devices')} what lies there, bring these sums to one of them, and"
            " take the whole by one fetch."
        )
    return None


def _devices(situation: Situation) -> set[str]:
    return {hop.src for hop in situation.hops if hop.kind == "pull"}


def _added_up(situation: Situation, stmt: ast.stmt, taken: ast.expr) -> bool:
    """Whether all that is done with the value is to add it, or a power of it, to others."""
    source = situation.source
    node: ast.AST = taken
    while isinstance(parent := source.parents[node], ast.BinOp):
        node = parent
    if isinstance(stmt, ast.AugAssign) and stmt.value is node:
        return isinstance(stmt.op, ast.Add) and source.loop_of(stmt) is not None
    whole = source.parents[node]
    call = source.parents[whole]
    return (
        isinstance(whole, ast.GeneratorExp | ast.ListComp)
        and whole.elt is node
        and isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id == "sum"
        and call in own_nodes(stmt)
    )
