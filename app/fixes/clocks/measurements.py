"""Waits that a measurement needs: something reads the clock after them, or after a call of their function."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterator, Mapping

from app.fixes.code.names import called, dotted, root_of, value_of
from app.fixes.code.parsed_source import Function, Source, is_compound, own_nodes
from app.fixes.situation import Situation

WAITS = frozenset({"wait_to_read", "wait_to_write", "waitall", "sync_devices", "async_wait"})
"""Calls that wait and take nothing."""
_PACKAGES = frozenset({"time", "timeit", "datetime", "mxnet", "tensorflow"})
_MAYBE = re.compile(r"\b(?:time|timeit|datetime)\b|profiler|timestamp")
_ASSIGNED = re.compile(r"= *(?:time|timeit)\.\w+$", re.MULTILINE)
"""``clock = time.perf_counter``"""
_NO_CLOCKS = frozenset({"sleep", "strftime", "strptime", "localtime", "gmtime", "ctime", "asctime", "mktime"})
_PROFILES = frozenset({"set_state", "pause", "resume", "dump", "dumps", "start", "stop", "Profile", "Trace"})


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

    First what another statement reads in each round, then what this one does. Beside a value that is taken
    one of the next round counts for nothing: what was made before it is no part of that time.
    """
    source, again = situation.source, only_waits(situation)
    for stmt in situation.statements[:1]:
        found = [
            *_after(situation.file, source, stmt, again),
            *_by_callers(situation.file, source, stmt, again),
        ]
        return min(found, key=lambda clock: (not clock.each, clock.own), default=None)
    return None


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
    clock, waits = clock_after(situation), only_waits(situation)
    if clock is None or not (waits or (clock.each and not clock.own)):
        return None
    said = (
        f"{clock.name} at {clock.site} takes the time after it: what is not waited for until then would not"
        " be in that time."
    )
    if waits:
        return f"{said} Wait only while you measure, and time several steps between two waits."
    return f"{said} Take the value every so many steps, and there the time of all of them together."


def _after(file: str, source: Source, stmt: ast.stmt, again: bool) -> Iterator[Clock]:
    """Clocks that are read after a statement in its function, and by what is around it.

    Also before it in its loop, if `again`: they are read once more in the next round.
    """
    function, loop = source.function_of(stmt), source.loop_of(stmt)
    below_first = sorted(
        _clocks(source, function or source.tree), key=lambda one: one[0].lineno < stmt.lineno
    )
    for call, name in below_first:
        user, inside = source.statement_of(call), any(one is loop for one in source.ancestors(call))
        around = user is function or (isinstance(user, ast.With) and user in source.ancestors(stmt))
        each = loop is None or inside
        later = call.lineno > (stmt.end_lineno or 0) or user is stmt or around
        if later or (again and inside):
            yield Clock(name, f"{file}:{call.lineno}", each, user is stmt)


def _by_callers(file: str, source: Source, stmt: ast.stmt, again: bool) -> Iterator[Clock]:
    """Clocks that are read after a call of the statement's function, in the same file."""
    function, loop = source.function_of(stmt), source.loop_of(stmt)
    for call in ast.walk(source.tree) if function is not None else ():
        user = source.statement_of(call)
        if function is not None and called(call) == function.name and user is not None:
            for clock in _after(file, source, user, again):
                yield dataclasses.replace(clock, each=clock.each and loop is None, own=False)


def _clocks(source: Source, scope: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    """What reads the clock in a scope, also by a function or class of the file; with its name."""
    if not _MAYBE.search(source.text):
        return
    modules = _imports(source)
    timers = {
        holder.name
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and _reads_clock(source, node, modules)
        for holder in source.ancestors(node)
        if isinstance(holder, Function | ast.ClassDef)
    }
    for node in ast.walk(scope):
        if isinstance(node, ast.Call) and (called(node) in timers or _reads_clock(source, node, modules)):
            yield node, dotted(node.func) or called(node)
    for one in scope.decorator_list if isinstance(scope, Function) else ():
        if dotted(one) in timers:
            yield one, dotted(one)


def _imports(source: Source) -> dict[str, str]:
    """The packages, of those that have clocks, that names of the file stand for, or come from."""
    found: dict[str, str] = {}
    for node in ast.walk(source.tree):
        match node:
            case ast.Import(names=names):
                found |= {(one.asname or one.name).partition(".")[0]: one.name for one in names}
            case ast.ImportFrom(module=str(module), names=names):
                found |= {one.asname or one.name: module for one in names}
    roots = ((name, module.partition(".")[0]) for name, module in found.items())
    return {name: root for name, root in roots if root in _PACKAGES}


def _reads_clock(source: Source, call: ast.Call, modules: Mapping[str, str]) -> bool:
    function = call.func
    if isinstance(function, ast.Name) and function.id not in modules:
        made = value_of(source, function.id, call) if _ASSIGNED.search(source.text) else None
        function = made if made is not None else function
    path = dotted(function)
    name = path.rpartition(".")[2]
    match modules.get(root_of(function)):
        case "time" | "timeit":
            return name not in _NO_CLOCKS
        case "mxnet" | "tensorflow":
            return name == "timestamp" or (name in _PROFILES and "profiler" in path.lower())
        case "datetime":
            return name in ("now", "utcnow")
    return False
