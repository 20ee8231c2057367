"""What reads the clock in a program's files: calls of the modules for it, and functions that make such."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from app.fixes.code.names import assignment_of, called, dotted, from_modules, root_of
from app.fixes.code.parsed_source import Function, Source
from app.fixes.situation import Situation

_PACKAGES = ("time", "timeit", "datetime", "mxnet", "tensorflow")
_NO_CLOCKS = frozenset(
    {
        "sleep",
        "strftime",
        "strptime",
        "localtime",
        "gmtime",
        "ctime",
        "asctime",
        "mktime",
        "timedelta",
        "date",
    }
)
_DATES = frozenset({"now", "utcnow"})
_PROFILES = frozenset(
    {"set_state", "profiler_set_state", "pause", "resume", "dump", "dumps", "start", "stop"}
    | {"Profile", "Trace"}
)
_MAYBE = re.compile(
    r"perf_counter|monotonic|process_time|thread_time|timeit|time_ns|\btime\.time\b|from time import|utcnow"
    r"|\bnow\(|profiler|timestamp|Speedometer"
)

_Made = tuple[Source, Function | ast.ClassDef]


class Clocks:
    """Answers for the files of a run; each is read when it is asked about."""

    def __init__(self, situation: Situation) -> None:
        """Nothing is read yet."""
        self._situation = situation
        files = dict.fromkeys(situation.files)
        self._texts = {file: situation.text_of(file) or "" for file in files}
        self._texts = {situation.file: situation.source.text} | self._texts
        self._opened: dict[str, Source | None] = {situation.file: situation.source}
        self._roots: dict[Source, frozenset[str]] = {}
        self._timed: dict[str, list[_Made]] | None = None

    @property
    def any(self) -> bool:
        """Whether any file may read a clock at all."""
        return any(map(_MAYBE.search, self._texts.values()))

    def is_clock(self, source: Source, node: ast.AST) -> bool:
        """Whether it is a call that reads the clock, or begins or ends a profile."""
        if not isinstance(node, ast.Call) or root_of(node.func) not in self._names(source):
            return False
        return _reads_clock(source, node.func, node)

    def times(self, source: Source, named: ast.expr) -> bool:
        """Whether a name stands for a function, method or class of the program that reads the clock."""
        name = dotted(named).rpartition(".")[2]
        timed = self._timers()
        if isinstance(named, ast.Name) and name not in timed and timed and _assigned(source, name):
            made = assignment_of(source, name, named)  # timer = Timer(..)
            value = made.value if made is not None else None
            return isinstance(value, ast.Call) and value.func is not named and self.times(source, value.func)
        found = timed.get(name, [])
        return len(found) == 1 and self._is_the_one(name) and _may_be(source, named, found[0])

    def calls_of(self, source: Source, function: Function) -> Iterator[tuple[str, Source, ast.Call]]:
        """The calls of a function, with their files; none where the files have several of that name."""
        if not self._is_the_one(function.name):
            return
        used = re.compile(rf"\b{re.escape(function.name)}\s*\(")
        for file, text in self._texts.items():
            there = self._open(file) if used.search(text) else None
            for node in ast.walk(there.tree) if there is not None else ():
                if there is None or not isinstance(node, ast.Call) or called(node) != function.name:
                    continue
                if _may_be(there, node.func, (source, function)):
                    yield file, there, node

    def _open(self, file: str) -> Source | None:
        if file not in self._opened:
            self._opened[file] = self._situation.opened(file)
        return self._opened[file]

    def _is_the_one(self, name: str) -> bool:
        """Whether the files have one function or class of that name."""
        made = re.compile(rf"^[ \t]*(?:async +)?(?:def|class) +{re.escape(name)}\b", re.MULTILINE)
        return sum(len(made.findall(text)) for text in self._texts.values()) == 1

    def _timers(self) -> dict[str, list[_Made]]:
        """Functions and classes in which a clock is read, by name."""
        if self._timed is None:
            self._timed = {}
            for file, text in self._texts.items():
                source = self._open(file) if _MAYBE.search(text) else None
                for node in ast.walk(source.tree) if source is not None else ():
                    if source is None or not self.is_clock(source, node):
                        continue
                    for around in source.ancestors(node):
                        if isinstance(around, Function | ast.ClassDef):
                            known = self._timed.setdefault(around.name, [])
                            known += [] if any(one is around for _, one in known) else [(source, around)]
        return self._timed

    def _names(self, source: Source) -> frozenset[str]:
        """Names that may begin a call that reads the clock."""
        if source not in self._roots:
            found: set[str] = set()
            for node in ast.walk(source.tree):
                if isinstance(node, ast.Import):
                    named = [(one.name, one.asname or one.name) for one in node.names]
                elif isinstance(node, ast.ImportFrom) and not node.level:
                    named = [(node.module or "", one.asname or one.name) for one in node.names]
                else:
                    continue
                found |= {
                    alias.partition(".")[0] for name, alias in named if name.partition(".")[0] in _PACKAGES
                }
            for node in ast.walk(source.tree):  # clock = time.perf_counter
                value = node.value if isinstance(node, ast.Assign) else None
                begin = value.func if isinstance(value, ast.Call) else value
                if isinstance(node, ast.Assign) and begin is not None and root_of(begin) in found:
                    found |= {one.id for one in node.targets if isinstance(one, ast.Name)}
            self._roots[source] = frozenset(found)
        return self._roots[source]


def _assigned(source: Source, name: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\s*(=|:)", source.text) is not None


def _may_be(source: Source, named: ast.expr, made: _Made) -> bool:
    """Whether a function, method or class may be meant: its owner is not known to be something else."""
    holder = made[0].parents.get(made[1])
    if not isinstance(named, ast.Attribute):
        return not isinstance(holder, ast.ClassDef)
    owner = named.value
    if not isinstance(holder, ast.ClassDef):
        return root_of(named) != "self" and (
            not isinstance(owner, ast.Name) or assignment_of(source, owner.id, named) is None
        )
    if not isinstance(owner, ast.Name):
        return True
    if owner.id == "self":
        return holder in source.ancestors(named)
    value = assignment_of(source, owner.id, named)
    return value is None or called(value.value or owner) == holder.name


def _reads_clock(source: Source, function: ast.expr, call: ast.Call) -> bool:
    path, root = dotted(function), root_of(function)
    name = path.rpartition(".")[2]
    if not path:
        return False
    if root in from_modules(source, call, "time", "timeit"):
        return name not in _NO_CLOCKS
    if root in from_modules(source, call, "datetime"):
        return name in _DATES and _subtracted(source, call)
    if root in from_modules(source, call, "mxnet", "tensorflow"):
        return name == "timestamp" or (name in _PROFILES and "profiler" in path.lower())
    made = assignment_of(source, path, call)  # clock = time.perf_counter
    value = made.value if made is not None else None
    if isinstance(value, ast.Call):
        return called(value) == "Speedometer"
    return isinstance(value, ast.Attribute) and _reads_clock(source, value, call)


def _subtracted(source: Source, call: ast.Call) -> bool:
    """Whether a difference is made of it, in its statement or of the name that it gets."""

    def is_difference(node: ast.AST) -> bool:
        return isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Sub)

    for parent in source.ancestors(call):
        if is_difference(parent):
            return True
        if isinstance(parent, ast.stmt):
            targets = {dotted(one) for one in parent.targets} if isinstance(parent, ast.Assign) else set()
            return any(
                is_difference(node) and targets & {dotted(part) for part in ast.walk(node)} - {""}
                for node in ast.walk(source.tree)
            )
    return False
