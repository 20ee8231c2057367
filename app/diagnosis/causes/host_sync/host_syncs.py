"""Python waits at a line in a loop: it waits never, reads once after the loop, or reads now and then."""

from __future__ import annotations

import ast

from app.diagnosis.causes.host_sync import kept_values
from app.diagnosis.causes.host_sync.library_calls import asks_whether_to_record
from app.fixes.clocks.measurements import WAITS, clock_after
from app.fixes.code.change import Change
from app.fixes.code.names import called
from app.fixes.code.parsed_source import own_children
from app.fixes.flow.host_reads import host_reads, is_pure, only_reports, ways_of_reading
from app.fixes.loops import periods
from app.fixes.situation import Draft, Situation
from probes.trace.hop import ASSERTION, IN_GRAPH, ON_BATCH

_KINDS_WITHOUT_FIX = frozenset({*WAITS, "upload", "save", "pickle", IN_GRAPH, ASSERTION, *ON_BATCH})


def host_sync(situation: Situation) -> Draft | None:
    """The fix for the first statement of the line that reads, or waits for, a value."""
    clock = clock_after(situation)
    for stmt in situation.statements:
        if clock is None and (draft := _without_wait(situation, stmt)) is not None:
            return draft
    if asks_whether_to_record(situation) or _KINDS_WITHOUT_FIX & ways_of_reading(situation):
        return None
    for stmt in situation.statements:
        for form in (_reported, kept_values.kept):
            if clock is not None and clock.each and form is (kept_values.kept if clock.own else _reported):
                return None  # a later read were missing in that time
            if (draft := form(situation, stmt)) is not None:
                return draft
    return None


def _without_wait(situation: Situation, stmt: ast.stmt) -> Draft | None:
    """A wait that reads nothing is dropped, and with it an `if` around it that holds nothing else."""
    if not isinstance(stmt, ast.Expr) or called(stmt.value) not in WAITS:
        return None
    source = situation.source
    dropped: ast.stmt = stmt
    match source.parents[stmt]:
        case ast.If(body=[_], orelse=[]) as around if is_pure(around.test):
            above = source.parents[around]
            in_chain = isinstance(above, ast.If) and around in above.orelse
            dropped = stmt if in_chain else around
    change = Change(source)
    change.drop(dropped)
    words = "Drops the wait: what needs the value waits by itself; check that no time is measured up to here."
    return situation.draft(words, change)


def _reported(situation: Situation, stmt: ast.stmt) -> Draft | None:
    """``print(step, float(loss))``: shown every so many rounds."""
    reads = len(host_reads(situation, stmt))
    loop = periods.step_loop(situation, stmt, reads) if only_reports(stmt) else None
    if loop is None or periods.thinned(situation.source, stmt, loop):
        return None
    change = Change(situation.source)
    condition = periods.condition(situation, loop, change)
    given = (child for call in own_children(stmt) for child in ast.iter_child_nodes(call))
    if condition is None or not all(map(is_pure, given)):
        return None
    change.wrap(stmt, f"if {condition[0]}:")
    words = f"Takes and tells the value every {condition[1]} rounds of the loop instead of in each."
    return situation.draft(words, change)
