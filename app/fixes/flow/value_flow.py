"""Where Python goes on with a value that the host read, as far as the text of the files tells."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Sequence

from app.fixes.code.names import bindings, called, dotted, imported, loads_in, root_of
from app.fixes.code.parsed_source import Function, Loop, Source, own_children
from app.fixes.flow.host_reads import host_reads, is_report, only_reports, ways_of_reading
from app.fixes.flow.value_roles import (
    KEEPING,
    Role,
    Use,
    is_environment,
    is_used,
    metric_updated,
    of_branches,
)
from app.fixes.situation import Situation

_FRAMEWORKS = ("tensorflow", "tf_keras", "keras", "mxnet")
_NUMBERS = frozenset(
    {"float", "int", "bool", "str", "repr", "format", "round", "abs", "min", "max", "sum", "len", "list"}
    | {"tuple", "sorted", "any", "all", "complex", "divmod", "pow", "set", "reversed", "zip", "enumerate"}
)
"""Python's own functions whose results are of their arguments."""
_CONVERTS = frozenset({"constant", "convert_to_tensor", "array"})
"""The frameworks' functions that send what Python has to a device."""
_BY_FRAMEWORK = frozenset({"__call__", "call", "forward", "hybrid_forward", "get_config", "result"})
"""Methods that a framework calls: who gets what they return does not stand in the file."""
_OF_STEPS = frozenset({"backward", "forward_backward", "gradient", "apply_gradients", "minimize"})
"""Calls that a step makes once: what stands in one loop with them, and no inner one, is each step's."""
_MOST_FUNCTIONS = 3
"""Calls that a value is followed through, into functions and out of them."""
_MOST_PLACES = 200


def uses(situation: Situation) -> list[Use]:
    """What the values that the line reads are used for, what is only shown or summed up left out.

    A use of role `UNKNOWN` is what the text does not tell of.
    """
    for stmt in situation.statements:
        if (nodes := _read_in(situation, stmt)) is not None:
            trail = _Trail(situation)
            for node in nodes:
                _Flow(trail, situation.file, situation.source).climb(node)
            return list(dict.fromkeys(trail.found))
    return [Use(Role.UNKNOWN, situation.finding.site or "", "")]


def _read_in(situation: Situation, stmt: ast.stmt) -> list[ast.AST] | None:
    """The expressions whose values are the device's; None where the statement has none that can be known."""
    if found := host_reads(situation, stmt):
        return [read.node for read in found]
    kinds = ways_of_reading(situation)
    if kinds & {"bool", "is_nan"} and isinstance(stmt, ast.If | ast.While | ast.Assert):
        return [stmt.test]
    made = stmt.value if isinstance(stmt, ast.Assign) else None
    if only_reports(stmt) or (isinstance(made, ast.Lambda) and is_report(made.body)):
        return []
    if kinds & {"format", "str", "repr"}:
        own = (one for one in own_children(stmt) if isinstance(one, ast.expr | ast.keyword))
        nodes = (part for one in own for part in ast.walk(one))
        return [part for part in nodes if isinstance(part, ast.FormattedValue)] or None
    return None


@dataclasses.dataclass
class _Trail:
    """What was found on the way of a value, through all functions and files."""

    situation: Situation
    found: list[Use] = dataclasses.field(default_factory=list)
    seen: set[ast.AST] = dataclasses.field(default_factory=set)
    by_numpy: bool = False
    computed: bool = False


@dataclasses.dataclass(frozen=True)
class _Flow:
    """Follows a value from expression to expression, and through names, parameters and results."""

    trail: _Trail
    file: str
    source: Source
    calls: int = 0
    """How many it was followed through."""

    def climb(self, node: ast.AST) -> None:
        """Follow the value of a node to what is done with it."""
        while node not in self.trail.seen:
            self.trail.seen.add(node)
            if len(self.trail.seen) > _MOST_PLACES:
                return self._add(Role.UNKNOWN, node)
            parent = self.source.parents.get(node)
            if parent is None or not self._passed_on(node, parent):
                return None
            node = parent
        return None

    def _add(self, role: Role, node: ast.AST, by: str = "") -> None:
        line = getattr(node, "lineno", self.trail.situation.line)
        self.trail.found.append(Use(role, f"{self.file}:{line}", by))

    def _passed_on(self, node: ast.AST, parent: ast.AST) -> bool:
        """Whether the parent's value is made of the node's; notes what else the parent does with it."""
        match parent:
            case ast.stmt():
                self._statement(node, parent)
            case ast.keyword(value=value):
                call = self.source.parents[parent]
                return isinstance(call, ast.Call) and self._argument(value, call)
            case ast.Call(func=func) if node is not func:
                return self._argument(node, parent)
            case ast.Subscript(slice=index, ctx=context) if node is index:
                self._add(Role.UNKNOWN, parent)
                return isinstance(context, ast.Load)
            case ast.NamedExpr(target=target):
                self._named(target, parent)
            case ast.comprehension(target=target, iter=items) if node is items:
                self._each(target, [self.source.parents[parent]])
            case ast.comprehension():
                self._add(Role.DECIDES, node, "if")
            case ast.IfExp(test=test) if node is test:
                self._add(Role.DECIDES, parent, "if")
                return False
            case ast.Lambda() | ast.Await() | ast.Yield() | ast.YieldFrom():
                self._add(Role.UNKNOWN, node)
                return False
            case ast.BinOp():
                self.trail.computed = True
        return isinstance(parent, ast.expr)

    def _statement(self, node: ast.AST, stmt: ast.stmt) -> None:
        match stmt:
            case ast.Expr() | ast.Raise() | ast.Delete():
                pass
            case ast.While():
                self._add(Role.ENDS_LOOP, stmt, "while")
            case ast.Assert():
                self._add(Role.FAILS, stmt, "assert")
            case ast.If():
                if (role := of_branches(self.source, stmt)) is not None:
                    self._add(role, stmt, "if")
            case ast.Assign(targets=targets):
                for target in targets:
                    self._assigned(target, stmt)
            case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
                self._assigned(target, stmt)
            case ast.For(target=target):
                self._each(target, stmt.body)
            case ast.Return():
                self._returned(stmt)
            case _:
                self._add(Role.UNKNOWN, node)

    def _argument(self, node: ast.AST, call: ast.Call) -> bool:
        """Whether a call's result is made of its argument; notes what else the call does with that."""
        whole = dotted(call.func)
        if whole in _NUMBERS:
            return True
        if root_of(call.func) in imported(self.source, call, "numpy", "math"):
            self.trail.by_numpy = True
            return True
        if (role := self._framework_role(call)) is not None:
            self._add(role, call, whole)
        elif is_report(call):
            pass
        elif is_environment(call):
            self._add(Role.ENVIRONMENT, call, whole)
        else:
            match call.func:
                case ast.Attribute(attr="join" | "format" | "get"):
                    return True
                case ast.Attribute(value=holder, attr=name) if name in KEEPING and not self._defined(name):
                    self._kept(holder, call)
                case _:
                    self._into(node, call)
        return False

    def _framework_role(self, call: ast.Call) -> Role | None:
        """Return what a framework's function or metric needs its argument for; None for other calls."""
        name, trail = called(call), self.trail
        of_framework = root_of(call.func) in imported(self.source, call, *_FRAMEWORKS)
        if of_framework and (name == "log" or not is_report(call)):
            made = trail.by_numpy or (trail.computed and name in _CONVERTS)
            return Role.COMES_BACK if made else Role.GOES_BACK
        metric = metric_updated(self.source, call)
        if metric == "keras" and trail.by_numpy:
            return Role.COMES_BACK
        return Role.METRIC if metric else None

    def _into(self, node: ast.AST, call: ast.Call) -> None:
        """Follow an argument into the one function of the file that the call can mean."""
        made, by = self._defined(called(call)), dotted(call.func) or called(call)
        starred = any(isinstance(one, ast.Starred) for one in call.args)
        if len(made) != 1 or self.calls >= _MOST_FUNCTIONS or starred:
            return self._add(Role.UNKNOWN, call, by)
        function = made[0]
        arguments, decorators = function.args, function.decorator_list
        if any(called(one) == "function" or dotted(one).endswith(".function") for one in decorators):
            return self._add(Role.GOES_BACK, call, by)
        method = isinstance(self.source.parents[function], ast.ClassDef)
        names = [one.arg for one in (*arguments.posonlyargs, *arguments.args)][method:]
        given = dict(zip(map(id, call.args), names, strict=False))
        given |= {id(one.value): one.arg for one in call.keywords if one.arg}
        named = given.get(id(node))
        unknown = decorators or arguments.vararg or method != isinstance(call.func, ast.Attribute)
        if unknown or named not in [*names, *(one.arg for one in arguments.kwonlyargs)]:
            return self._add(Role.UNKNOWN, call, by)
        deeper = dataclasses.replace(self, calls=self.calls + 1)
        return deeper._loads(named, function.body)

    def _returned(self, stmt: ast.Return) -> None:
        function = self.source.function_of(stmt)
        if function is None or self.calls >= _MOST_FUNCTIONS or function.name in _BY_FRAMEWORK:
            return self._add(Role.UNKNOWN, stmt)
        found = [
            (_Flow(self.trail, file, source, self.calls + 1), call)
            for file, source in self.trail.situation.sources
            for call in source.every(ast.Call)
            if called(call) == function.name and not isinstance(stmt.value, ast.Tuple)
        ]
        if not found:
            self._add(Role.UNKNOWN, stmt)
        for flow, call in found:
            flow.climb(call)
        return None

    def _assigned(self, target: ast.expr, stmt: ast.stmt) -> None:
        match target:
            case ast.Name():
                self._named(target, stmt)
            case ast.Tuple():  # which of them the value is does not stand there
                self._add(Role.UNKNOWN, stmt)
            case _:
                self._kept(target, stmt)

    def _named(self, target: ast.Name, stmt: ast.AST) -> None:
        """Follow a name from where it gets the value to where it gets another, and around the loop."""
        scope = self.source.scopes_of(stmt)[0]
        for load in _loads_of(self.source, target, stmt):
            if self.source.scopes_of(load)[0] is not scope:
                self._add(Role.UNKNOWN, load)
            else:
                self.climb(load)

    def _each(self, target: ast.expr, body: Sequence[ast.AST]) -> None:
        """Follow the names that get the parts of the value one after the other."""
        for one in ast.walk(target):
            if isinstance(one, ast.Name):
                self._loads(one.id, body)

    def _loads(self, name: str | None, body: Sequence[ast.AST]) -> None:
        for load in (load for part in body for load in loads_in(part) if load.id == name):
            self.climb(load)

    def _kept(self, path: ast.expr, stmt: ast.AST) -> None:
        """A list, or an object's attribute: what else reads it decides whether it is more than looked at."""
        source = self.source
        while isinstance(path, ast.Subscript):
            path = path.value
        match path:
            case ast.Name(id=name) if (made := bindings(source, name, stmt)) and not any(
                isinstance(one, ast.arg) for one in made
            ):
                loop = source.loop_of(source.statement_of(stmt) or stmt)
                in_loop = loop is not None and source.scopes_of(made[0])[0] is source.scopes_of(stmt)[0]
                loads = loads_in(loop if loop is not None and in_loop else source.tree)
                if any(load.id == name and is_used(source, load) for load in loads):
                    self._add(Role.KEPT if in_loop else Role.UNKNOWN, stmt, name)
            case ast.Attribute(attr=name):
                if any(
                    one.attr == name and isinstance(one.ctx, ast.Load) and is_used(text, one)
                    for _, text in self.trail.situation.sources
                    for one in text.every(ast.Attribute)
                ):
                    self._add(Role.KEPT, stmt, source.code(path))
            case _:
                self._add(Role.UNKNOWN, stmt)

    def _defined(self, name: str) -> list[Function]:
        return [one for one in self.source.every(ast.stmt) if isinstance(one, Function) and one.name == name]


def _loads_of(source: Source, target: ast.Name, stmt: ast.AST) -> list[ast.Name]:
    """The readings that get the value which a statement gives the name `target`.

    They go from there to where the name gets another value, and around the loop; what reads it once, when
    the loop is over, is left out, unless that is a loop inside of each step.
    """
    loop, scope = _loop_of_steps(source, stmt), source.scopes_of(stmt)[0]
    given = [one for one in bindings(source, target.id, stmt) if isinstance(one, ast.Name | ast.arg)]
    again = {_place(one): one for one in given if one is not target}
    end = (getattr(stmt, "end_lineno", 0) or 0, getattr(stmt, "end_col_offset", 0) or 0)
    later = [place for place in again if place > end]
    last = _end_of_statement(source, again[min(later)]) if later else None
    own, inside = set(ast.walk(stmt)), set(ast.walk(loop or scope))
    around = loop is not None and not any(_place(one) in again for one in inside if isinstance(one, ast.Name))
    return [
        load
        for load in loads_in(scope)
        if load.id == target.id and load in inside and load not in own
        if (_place(load) > end and (last is None or _place(load) <= last)) or (around and _place(load) < end)
    ]


def _place(node: ast.Name | ast.arg) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _loop_of_steps(source: Source, stmt: ast.AST) -> Loop | None:
    """The innermost loop around a statement, or the one around that where it is known to be of the steps."""
    loop = source.loop_of(stmt)
    around = source.loop_of(loop) if loop is not None else None
    steps = (one for one in ast.walk(around or source.tree) if called(one) in _OF_STEPS)
    return around if around is not None and any(source.loop_of(one) is around for one in steps) else loop


def _end_of_statement(source: Source, node: ast.Name | ast.arg) -> tuple[int, int]:
    """Where the statement ends that gives a name its value; of others, where the name stands."""
    stmt = source.statement_of(node)
    if isinstance(stmt, ast.Assign | ast.AnnAssign | ast.AugAssign):
        return stmt.end_lineno or stmt.lineno, stmt.end_col_offset or 0
    return _place(node)
