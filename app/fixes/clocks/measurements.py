"""Waits that a measurement needs: something reads the clock after them, or after a call of their function."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterator

from app.fixes.code.names import called, calls_of, dotted, full_name, value_of
from app.fixes.code.parsed_source import Function, Source
from app.fixes.situation import Situation

WAITS = frozenset({"wait_to_read", "wait_to_write", "waitall", "sync_devices", "async_wait"})
"""Calls that wait and read nothing."""
_MAYBE = re.compile(r"\b(?:time|timeit|datetime)\b|profiler|timestamp")
_ASSIGNED = re.compile(r"= *(?:time|timeit)\.\w+$", re.MULTILINE)
"""``clock = time.perf_counter``"""
_CLOCK = re.compile(
    r"(?:time|timeit)(?:\.\w+)*\.(?!(?:sleep|strftime|strptime|localtime|gmtime|ctime|asctime|mktime)$)\w+"
    r"|datetime(?:\.\w+)*\.(?:now|utcnow)"
    r"|(?:mxnet|tensorflow)(?:\.\w+)*\.timestamp"
    r"|(?:mxnet|tensorflow)\.(?=.*(?i:profiler))(?:\w+\.)*"
    r"(?:set_state|pause|resume|dumps?|start|stop|Profile|Trace)"
)
"""The whole names of functions that read the clock, or start and stop what does."""


@dataclasses.dataclass(frozen=True)
class Clock:
    """What reads the clock after a statement."""

    name: str
    """As the code writes it: ``time.perf_counter``."""
    site: str
    each: bool
    """In each round of the innermost loop around the statement, where there is one."""
    own: bool
    """In the statement itself."""


def clock_after(situation: Situation) -> Clock | None:
    """What reads the clock after the finding's statement; None for nothing.

    First what another statement reads in each round, then what this one does. Beside a host read a clock of
    the next round counts for nothing: what was computed before it is no part of that time.
    """
    for stmt in situation.statements[:1]:
        timed = _Timed(situation.file, situation.source, only_waits(situation))
        found = [*timed.after(stmt), *timed.by_callers(stmt)]
        return min(found, key=lambda clock: (not clock.each, clock.own), default=None)
    return None


def only_waits(situation: Situation) -> bool:
    """Whether the line has a call that waits and reads nothing."""
    return any(calls_of(stmt, *WAITS) for stmt in situation.simple)


@dataclasses.dataclass(frozen=True)
class _Timed:
    """The clocks of a file."""

    file: str
    source: Source
    again: bool
    """What is read before a statement in its loop counts too: it is read once more in the next round."""

    def after(self, stmt: ast.stmt) -> Iterator[Clock]:
        """Clocks that are read after a statement in its function, and by what is around it."""
        source = self.source
        function, loop = source.function_of(stmt), source.loop_of(stmt)
        found = sorted(self._read_in(function or source.tree), key=lambda one: one[0].lineno < stmt.lineno)
        for call, name in found:
            user, inside = source.statement_of(call), loop in list[object](source.ancestors(call))
            around = user is function or (isinstance(user, ast.With) and user in source.ancestors(stmt))
            later = call.lineno > (stmt.end_lineno or 0) or user is stmt or around
            if later or (self.again and inside):
                yield Clock(name, f"{self.file}:{call.lineno}", loop is None or inside, user is stmt)

    def by_callers(self, stmt: ast.stmt) -> Iterator[Clock]:
        """Clocks that are read after a call of the statement's function, in the same file."""
        function, loop = self.source.function_of(stmt), self.source.loop_of(stmt)
        for call in self.source.every(ast.Call) if function is not None else ():
            user = self.source.statement_of(call)
            if function is not None and called(call) == function.name and user is not None:
                for clock in self.after(user):
                    yield dataclasses.replace(clock, each=clock.each and loop is None, own=False)

    def _read_in(self, scope: ast.AST) -> Iterator[tuple[ast.expr, str]]:
        """What reads the clock in a scope, also by a function or class of the file; with its name."""
        if not _MAYBE.search(self.source.text):
            return
        timers = {
            holder.name
            for call in self.source.every(ast.Call)
            if self._reads_clock(call)
            for holder in self.source.ancestors(call)
            if isinstance(holder, Function | ast.ClassDef)
        }
        for node in ast.walk(scope):
            if isinstance(node, ast.Call) and (called(node) in timers or self._reads_clock(node)):
                yield node, dotted(node.func) or called(node)
        for one in scope.decorator_list if isinstance(scope, Function) else ():
            if dotted(one) in timers:
                yield one, dotted(one)

    def _reads_clock(self, call: ast.Call) -> bool:
        function, name = call.func, full_name(self.source, call.func, call)
        if isinstance(function, ast.Name) and not name and _ASSIGNED.search(self.source.text):
            made = value_of(self.source, function.id, call)
            name = full_name(self.source, made, call) if made is not None else ""
        return _CLOCK.fullmatch(name) is not None
