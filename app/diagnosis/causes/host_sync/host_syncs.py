"""Python stands still at a line in a loop: wait never, take once after the loop, or take now and then."""

from __future__ import annotations

import ast

from app.diagnosis.causes.host_sync import kept_values
from app.diagnosis.causes.host_sync.blocking_options import clipped_unchecked
from app.diagnosis.causes.host_sync.tensorflow_summaries import asks_whether_to_record
from app.fixes.clocks.measurements import WAITS, clock_after
from app.fixes.code.change import Change
from app.fixes.code.names import called
from app.fixes.code.parsed_source import own_nodes
from app.fixes.flow.host_reads import is_pure, takes, tells, ways_of_reading
from app.fixes.loops import periods
from app.fixes.situation import Draft, Situation
from probes.trace.hop import ASSERTION, IN_GRAPH, ON_BATCH


def host_sync(situation: Situation) -> Draft | None:
    """The fix for the first statement of the line that takes, or waits for, a value."""
    for stmt in situation.statements:
        if (draft := _waiting(situation, stmt)) is not None:
            return draft
    if asks_whether_to_record(situation):
        return None
    if ways_of_reading(situation) & {*WAITS, "upload", "save", "pickle", IN_GRAPH, ASSERTION, *ON_BATCH}:
        return None
    clock = clock_after(situation)
    for stmt in situation.statements:
        for form in (clipped_unchecked, _told, kept_values.kept):
            if clock is not None and form is (kept_values.kept if clock.own else _told) and clock.each:
                return None  # a later take were missing in that time
            if (draft := form(situation, stmt)) is not None:
                return draft
    return None


def _waiting(situation: Situation, stmt: ast.stmt) -> Draft | None:
    """A wait that takes nothing is dropped, and with it an `if` around it that holds nothing else."""
    if not isinstance(stmt, ast.Expr) or called(stmt.value) not in WAITS or clock_after(situation):
        return None
    source = situation.source
    dropped: ast.stmt = stmt
    around = source.parents[dropped]
    if isinstance(around, ast.If) and len(around.body) == 1 and not around.orelse and is_pure(around.test):
        in_chain = isinstance(above := source.parents[around], ast.If) and around in above.orelse
        dropped = dropped if in_chain else around
    change = Change(source)
    change.drop(dropped)
    words = "Drops the wait: what needs the value waits by itself; check that no time is measured up to here."
    return situation.draft(words, change.text())


def _told(situation: Situation, stmt: ast.stmt) -> Draft | None:
    """``print(step, float(loss))``: told every so many rounds."""
    loop = periods.step_loop(situation, stmt, len(takes(situation, stmt))) if tells(stmt) else None
    if loop is None or periods.thinned(situation.source, stmt, loop):
        return None
    source, change = situation.source, Change(situation.source)
    given = [
        node for node in own_nodes(stmt) if isinstance(node, ast.expr) and source.parents[node] is not stmt
    ]
    condition = periods.condition(source, loop, change, periods.seen(situation))
    if condition is None or not all(map(is_pure, given)):
        return None
    change.wrap(stmt, f"if {condition[0]}:")
    words = f"Takes and tells the value every {condition[1]} rounds of the loop instead of in each."
    return situation.draft(words, change.text())
