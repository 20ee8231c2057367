"""Waits that a measurement needs: something reads the clock after them, here, around, or in a caller."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator, Sequence

from app.fixes.clocks.clock_reads import Clocks
from app.fixes.code.names import called, dotted
from app.fixes.code.parsed_source import Function, Loop, Source, is_compound, own_nodes
from app.fixes.situation import Situation

WAITS = frozenset({"wait_to_read", "wait_to_write", "waitall", "sync_devices", "async_wait"})
"""Calls that wait and take nothing."""
_DEEPEST = 3
"""Calls, one in the other, over which a clock is looked for."""


@dataclasses.dataclass(frozen=True)
class Clock:
    """What reads the clock after a statement."""

    name: str
    """As the code writes it: ``time.perf_counter``."""
    site: str
    each: bool
    """In each round of the innermost loop around the statement, where there is one."""
    own: bool = False
    """In the statement itself."""
    next_round: bool = False
    """Not before the loop comes round."""


def clock_after(situation: Situation) -> Clock | None:
    """What reads the clock after the finding's statement; None for nothing.

    First what another statement reads in each round, then what this one does. Beside a value that is taken
    one of the next round counts for nothing: what was made before it is no part of that time.
    """
    clocks = Clocks(situation)
    if not clocks.any:
        return None
    found = [
        clock
        for stmt in situation.statements[:1]
        if not isinstance(stmt, Function | ast.ClassDef)
        for clock in _Search(clocks).after(situation.file, situation.source, stmt, 0)
    ]
    if not only_waits(situation):
        found = [clock for clock in found if not clock.next_round]
    return min(found, key=lambda clock: (not clock.each, clock.own, clock.next_round), default=None)


def only_waits(situation: Situation) -> bool:
    """Whether the line has a call that waits and takes nothing."""
    return any(
        called(node) in WAITS
        for stmt in situation.statements
        if not is_compound(stmt)
        for node in own_nodes(stmt)
    )


def for_timing(situation: Situation) -> str | None:
    """What is said of a wait that a measurement needs; None where none is seen to."""
    clock = clock_after(situation)
    if clock is None:
        return None
    waits, at = only_waits(situation), f"{clock.name} at {clock.site}"
    if not waits and (clock.own or not clock.each):
        return None
    if not clock.each:
        return (
            f"{at} takes the time after the loop and needs one wait, right before it: wait there in place of"
            " here."
        )
    said = f"{at} takes the time after it: what is not waited for until then would not be in that time."
    if waits:
        return f"{said} Wait only while you measure, and time several steps between two waits."
    return f"{said} Take the value every so many steps, and there the time of all of them together."


class _Search:
    """Goes from a statement to what runs after it."""

    def __init__(self, clocks: Clocks) -> None:
        self._clocks = clocks
        self._seen: set[str] = set()

    def after(self, file: str, source: Source, stmt: ast.stmt, depth: int) -> Iterator[Clock]:
        """Clocks that are read after a statement, in its function, by what is around it, and by callers."""
        around: list[ast.stmt] = []
        for parent in source.ancestors(stmt):
            if isinstance(parent, Function | ast.ClassDef | ast.Lambda):
                break
            around += [parent] if isinstance(parent, ast.stmt) else []
        loop = next((one for one in around if isinstance(one, Loop)), None)
        for each, again, one in _following(source, stmt, around, loop):
            for clock in self._read_in(file, source, one, each, None if depth else stmt):
                above = loop is not None and int(clock.site.rpartition(":")[2]) < stmt.lineno
                yield dataclasses.replace(clock, next_round=again or above)
        for index, one in enumerate(around):
            if isinstance(one, ast.With | ast.AsyncWith):
                inside = loop is None or loop not in around[:index]
                yield from self._timers(file, source, [item.context_expr for item in one.items], inside)
        function = source.function_of(stmt)
        if function is None:
            return
        yield from self._timers(file, source, function.decorator_list, loop is None)
        if depth < _DEEPEST and function.name not in self._seen:
            self._seen.add(function.name)
            for name, text, call in self._clocks.calls_of(source, function):
                calling = text.statement_of(call)
                if calling is not None:
                    for clock in self.after(name, text, calling, depth + 1):
                        yield dataclasses.replace(clock, each=clock.each and loop is None)

    def _read_in(
        self, file: str, source: Source, stmt: ast.AST, each: bool, own: ast.stmt | None
    ) -> Iterator[Clock]:
        """Clocks that a statement reads, or a function of the program that it calls."""
        for node in _nodes(stmt):
            if not isinstance(node, ast.Call):
                continue
            site, inside = f"{file}:{node.lineno}", source.statement_of(node) is own
            if self._clocks.is_clock(source, node) or self._clocks.times(source, node.func):
                yield Clock(dotted(node.func) or called(node), site, each, inside)

    def _timers(self, file: str, source: Source, holders: Sequence[ast.expr], each: bool) -> Iterator[Clock]:
        """Context managers and decorators that read the clock."""
        for holder in holders:
            named = holder.func if isinstance(holder, ast.Call) else holder
            if self._clocks.is_clock(source, holder) or self._clocks.times(source, named):
                yield Clock(dotted(named) or called(holder), f"{file}:{holder.lineno}", each)


def _following(
    source: Source, stmt: ast.stmt, around: Sequence[ast.stmt], loop: Loop | None
) -> Iterator[tuple[bool, bool, ast.stmt]]:
    """Statements that may run after one in its function.

    Each with whether that is in each round of its loop, and whether not before a loop comes round.
    """
    if loop is None:
        yield True, False, stmt
    for one in loop.body if loop is not None else ():
        yield True, (one.end_lineno or 0) < stmt.lineno, one
    inner: ast.stmt = stmt
    inside = loop is not None
    for parent in (*around, None):
        if not inside:
            block = source.block_of(inner)
            start = next(number for number, one in enumerate(block) if one is inner)
            for one in block[start + 1 :]:
                yield loop is None, False, one
            if isinstance(parent, ast.Try):
                for one in parent.finalbody:
                    yield loop is None, False, one
            if isinstance(parent, Loop):
                for one in parent.body[: parent.body.index(inner)] if inner in parent.body else ():
                    yield loop is None, True, one
        if parent is loop:
            inside = False
        if parent is not None:
            inner = parent


def _nodes(stmt: ast.AST) -> Iterator[ast.AST]:
    """What runs with a statement: functions that are made in it do not."""
    if isinstance(stmt, Function | ast.ClassDef | ast.Lambda):
        return
    yield stmt
    for child in ast.iter_child_nodes(stmt):
        yield from _nodes(child)
