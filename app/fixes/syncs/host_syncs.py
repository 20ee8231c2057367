"""Python stands still at a line in a loop: wait never, take once after the loop, or take now and then."""

from __future__ import annotations

import ast
import dataclasses
from typing import TypeGuard

from app.fixes.clocks.measurements import clock_after
from app.fixes.code.change import Change, unfolded
from app.fixes.code.device_notation import scope_for
from app.fixes.code.names import called, dotted, from_modules, root_of
from app.fixes.code.parsed_source import Source, is_compound, own_nodes
from app.fixes.flow.host_reads import (
    Take,
    is_linear,
    is_pure,
    of_it_alone,
    takes,
    tells,
    together,
    without_arguments,
)
from app.fixes.flow.metric_updates import handed_to_metric
from app.fixes.loops import kept_values, periods
from app.fixes.loops.array_rows import comprehended_rows, taken_before_rows
from app.fixes.loops.earlier_reads import taken_above
from app.fixes.loops.logging_calls import told_by_function
from app.fixes.loops.loop_guards import thinned
from app.fixes.loops.loop_records import kept_in_rows
from app.fixes.loops.loop_sums import added_to_attribute, each_summed
from app.fixes.loops.named_values import assigned
from app.fixes.loops.returned_values import returned
from app.fixes.loops.running_averages import carried_on_device
from app.fixes.loops.sums_by_device import summed_by_device
from app.fixes.paths import original_tensors
from app.fixes.situation import Draft, Situation
from app.fixes.syncs.blocking_options import clipped_unchecked
from app.fixes.syncs.tensorflow_summaries import asks_whether_to_record
from probes.trace.hop import ASSERTION, IN_GRAPH, ON_BATCH

_WAITS = frozenset({"wait_to_read", "wait_to_write", "waitall", "sync_devices"})


def host_sync(situation: Situation) -> Draft | None:
    """The fix for the first statement of the line that takes, or waits for, a value."""
    for stmt in situation.statements:
        if (draft := _waiting(situation, stmt)) is not None:
            return draft
    told = situation.evidence("kind") + situation.evidence("taken_by")
    if asks_whether_to_record(situation):
        return None
    if set(told) & {*_WAITS, "upload", "save", "pickle", IN_GRAPH, ASSERTION, *ON_BATCH}:
        return None
    clock = clock_after(situation)
    for stmt in situation.statements:
        for form in (
            clipped_unchecked,
            original_tensors.round_trip,
            comprehended_rows,
            _comprehended,
            _told,
            taken_before_rows,
            _kept,
            summed_by_device,
            carried_on_device,
            kept_in_rows,
            handed_to_metric,
            added_to_attribute,
            assigned,
            taken_above,
            _checked,
            told_by_function,
            returned,
        ):
            if clock is not None and form is (_kept if clock.own else _told) and clock.each:
                return None  # a later take were missing in that time
            if (draft := form(situation, stmt)) is not None:
                return draft
    return None


def _waiting(situation: Situation, stmt: ast.stmt) -> Draft | None:
    """A wait that takes nothing is dropped, and with it an `if` around it that holds nothing else."""
    if not isinstance(stmt, ast.Expr) or called(stmt.value) not in _WAITS or clock_after(situation):
        return None
    source, now = unfolded(situation.source, stmt)
    dropped: ast.stmt = now(stmt)
    around = source.parents[dropped]
    if isinstance(around, ast.If) and len(around.body) == 1 and not around.orelse and is_pure(around.test):
        in_chain = isinstance(above := source.parents[around], ast.If) and around in above.orelse
        dropped = dropped if in_chain else around
    change = Change(source)
    change.drop(dropped)
    words = "Drops the wait: what needs the value waits by itself; check that no time is measured up to here."
    return situation.draft(words, change.text())


def _comprehended(situation: Situation, stmt: ast.stmt) -> Draft | None:
    """``[float(x) for x in losses]``: all values by one take."""
    source = situation.source
    for take in takes(situation, stmt):
        whole = source.parents[take.node]
        if (
            not isinstance(whole, ast.ListComp | ast.GeneratorExp)
            or whole.elt is not take.node
            or len(whole.generators) != 1
        ):
            continue
        loop = whole.generators[0]
        if loop.ifs or loop.is_async or any(hop.each for hop in situation.hops):
            return None  # each step would wait for one value in place of several, and still wait
        plain = isinstance(take.value, ast.Name) and dotted(loop.target) == take.value.id
        items = source.code(loop.iter) if plain else _comprehension(source, whole, take)
        change, call = Change(source), source.parents[whole]
        if isinstance(whole, ast.GeneratorExp):
            alone = isinstance(call, ast.Call) and dotted(call.func) == "sum" and len(call.args) == 1
            pulls = {hop.src for hop in situation.hops}
            if (
                not alone
                or not isinstance(call, ast.Call)
                or len(pulls) > 1
                or take.kind not in ("float", "item", "asscalar")
            ):
                return None
            one = kept_values.whole_of(situation, take)
            if one is None:
                return None
            change.replace(call, one.of(f"sum({items if plain else items[1:-1]})"))
            words = "Adds up on the device, in the tensors' own precision, and takes one value."
        else:
            joined = together(situation, take, stmt, items)
            scope = (
                scope_for(source, stmt, situation.pulled_from) if situation.framework == "tensorflow" else ""
            )
            if (
                joined is None
                or scope is None
                or (scope and (is_compound(stmt) or unfolded(source, stmt)[0] is not source))
            ):
                return None
            around = source.parents[whole]
            if _stacks(around, source, whole) and joined.startswith("list("):
                change.replace(around, joined[len("list(") : -1])
            else:
                change.replace(whole, joined)
            if scope:
                change.wrap(stmt, f"with {scope}:")
            words = "Joins the tensors on the device and takes all values at once; they must be of one shape."
        return situation.draft(words, change.text())
    return None


def _stacks(node: ast.AST, source: Source, rows: ast.expr) -> TypeGuard[ast.Call]:
    """Whether it is numpy's call that makes one array of these rows, and no more."""
    return (
        isinstance(node, ast.Call)
        and node.args == [rows]
        and not node.keywords
        and called(node) == "stack"
        and root_of(node.func) in from_modules(source, node, "numpy")
    )


def _comprehension(source: Source, whole: ast.ListComp | ast.GeneratorExp, take: Take) -> str:
    loops = source.text[source.span(take.node)[1] : source.span(whole)[1] - 1].rstrip()
    return f"[{source.code(take.value)}{loops}]"


def _told(situation: Situation, stmt: ast.stmt) -> Draft | None:
    """``print(step, float(loss))``: told every so many rounds."""
    if not tells(stmt):
        return None
    if (loop := periods.step_loop(situation, stmt, len(takes(situation, stmt)))) is None:
        return None
    if thinned(situation, stmt, loop):
        return None
    source, now = unfolded(situation.source, stmt)
    moved, again = now(stmt), now(loop)
    change = Change(source)
    inner = takes(dataclasses.replace(situation, source=source), moved)
    busy = [take for take in inner if not is_pure(take.value)]
    outside = [
        node for node in own_nodes(moved) if isinstance(node, ast.Call) and source.parents[node] is not moved
    ]
    within = {part for take in busy for part in ast.walk(take.node)}
    if len(busy) > 1 or not all(is_pure(without_arguments(node)) for node in outside if node not in within):
        return None
    condition = periods.condition(source, again, change, periods.seen(situation))
    if condition is None:
        return None
    for take in busy:
        name = source.free_name("value")
        change.line_before(moved, f"{name} = {source.code(take.value)}")
        change.replace(take.value, name)
    change.wrap(moved, f"if {condition[0]}:")
    words = f"Takes and tells the value every {condition[1]} rounds of the loop instead of in each."
    return situation.draft(words, change.text())


def _kept(situation: Situation, stmt: ast.stmt) -> Draft | None:
    """``losses.append(float(loss))`` and ``total += float(loss)``."""
    source, loop = situation.source, situation.source.loop_of(stmt)
    found = takes(situation, stmt)
    if loop is None or len(found) != 1:
        return None
    take, change, words = found[0], Change(situation.source), None
    pair = kept_values.appended_to(stmt)
    if pair is not None and of_it_alone(pair[1], take.node):
        words = kept_values.keep_in_list(situation, source, change, stmt, loop, take, take.node)
        value = kept_values.kept(situation, source, take, stmt, loop)
        if value is None:
            return None
        change.replace(pair[1], value)
    elif isinstance(stmt, ast.AugAssign) and is_linear(stmt.value, take.node):
        words = kept_values.add_up(situation, source, change, stmt, loop, take)
        if situation.framework == "mxnet" and kept_values.recorded(source, stmt):
            return None
        inner = source.code(take.value) if stmt.value is take.node else source.operand(take.value)
        change.replace(take.node, inner)
    elif isinstance(stmt, ast.AugAssign) and (one := each_summed(situation, stmt, take)) is not None:
        words = kept_values.add_up(situation, source, change, stmt, loop, take, gathered=True)
        change.replace(take.node, one)
    return situation.draft(f"{words}.", change.text()) if words else None


def _checked(situation: Situation, stmt: ast.stmt) -> Draft | None:
    """``if loss > 9: print(..)``: checked every so many rounds.

    Not what ends the loop or the program: rounds after the one in which it should have may do harm, as those
    of a solver do that divide by a remainder of 0.
    """
    source, loop = situation.source, periods.step_loop(situation, stmt, 1)
    if loop is None or not isinstance(stmt, ast.If) or not is_pure(stmt.test):
        return None
    if thinned(situation, stmt, loop) or stmt.orelse or not all(map(tells, stmt.body)):
        return None
    change = Change(source)
    condition = periods.condition(source, loop, change, periods.seen(situation))
    if condition is None:
        return None
    test = source.code(stmt.test)
    loose = isinstance(stmt.test, ast.IfExp | ast.Lambda) or (
        isinstance(stmt.test, ast.BoolOp) and isinstance(stmt.test.op, ast.Or)
    )
    change.replace(stmt.test, f"{condition[0]} and {f'({test})' if loose else test}")
    every = condition[1]
    words = f"Checks every {every} rounds of the loop, so it may tell up to {every - 1} rounds later, or not."
    return situation.draft(words, change.text())
