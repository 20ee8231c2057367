"""Where Python goes on with a value that it took from a device, as far as the text of the files tells."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from app.fixes.code.name_reads import loads_in, loads_of, loads_of_attribute
from app.fixes.code.names import bindings, called, dotted, from_modules, root_of
from app.fixes.code.parsed_source import Function, Source
from app.fixes.flow.host_reads import is_telling, takes, tells, ways_of_reading
from app.fixes.flow.metric_updates import metric_updated
from app.fixes.flow.value_roles import (
    KEEPING,
    Role,
    Use,
    is_environment,
    is_looked_at,
    is_only_kept,
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
_MOST_FUNCTIONS = 3
"""Calls that a value is followed through, into functions and out of them."""
_MOST_PLACES = 200


def uses(situation: Situation) -> list[Use]:
    """What the values that the line takes are used for, what is only told or summed up left out.

    A use of role `UNKNOWN` is what the text does not tell of.
    """
    flow = _Flow(situation)
    unknown = [Use(Role.UNKNOWN, situation.finding.site or "", "")]
    for stmt in situation.statements:
        if (taken := _taken(situation, stmt)) is not None:
            for node in taken:
                flow.climb(situation.file, situation.source, node, 0)
            return list(dict.fromkeys(flow.found))
    return unknown


def _taken(situation: Situation, stmt: ast.stmt) -> list[ast.AST] | None:
    """The expressions whose values are the device's; None where the statement has none that can be known."""
    found: list[ast.AST] = [take.node for take in takes(situation, stmt)]
    if found:
        return found
    told = ways_of_reading(situation)
    if told & {"bool", "is_nan"} and isinstance(stmt, ast.If | ast.While | ast.Assert):
        return [stmt.test]
    made = stmt.value if isinstance(stmt, ast.Assign) else None
    if tells(stmt) or (isinstance(made, ast.Lambda) and is_telling(made.body)):
        return []
    if told & {"format", "str", "repr"}:
        texts = [
            part for one in _of_line(stmt) for part in ast.walk(one) if isinstance(part, ast.FormattedValue)
        ]
        return list(texts) or None
    return None


def _of_line(stmt: ast.stmt) -> Iterator[ast.AST]:
    return (one for one in ast.iter_child_nodes(stmt) if isinstance(one, ast.expr | ast.keyword))


class _Flow:
    """Follows a value from expression to expression, and through names, parameters and results."""

    def __init__(self, situation: Situation) -> None:
        self.found: list[Use] = []
        self._situation = situation
        self._seen: set[ast.AST] = set()
        self._by_numpy = False
        self._reckoned = False

    def climb(self, file: str, source: Source, node: ast.AST, calls: int) -> None:
        """What is done with the value of a node."""
        while True:
            if node in self._seen:
                return
            self._seen.add(node)
            if len(self._seen) > _MOST_PLACES:
                self._add(Role.UNKNOWN, file, node, "")
                return
            parent = source.parents.get(node)
            if parent is None or not self._passed_on(file, source, node, parent, calls):
                return
            node = parent

    def _add(self, role: Role, file: str, node: ast.AST, by: str) -> None:
        line = getattr(node, "lineno", self._situation.line)
        self.found.append(Use(role, f"{file}:{line}", by))

    def _passed_on(self, file: str, source: Source, node: ast.AST, parent: ast.AST, calls: int) -> bool:
        """Whether the parent's value is made of the node's; notes what else the parent does with it."""
        match parent:
            case ast.stmt():
                self._statement(file, source, node, parent, calls)
            case ast.keyword(value=value):
                call = source.parents[parent]
                return isinstance(call, ast.Call) and self._argument(file, source, value, call, calls)
            case ast.Call(func=func) if node is not func:
                return self._argument(file, source, node, parent, calls)
            case ast.Subscript(slice=index, ctx=ast.Load()) if node is index:
                self._add(Role.UNKNOWN, file, parent, "")
            case ast.Subscript(slice=index) if node is index:
                self._add(Role.UNKNOWN, file, parent, "")
                return False
            case ast.NamedExpr(target=target):
                self._named(file, source, target, parent, calls)
            case ast.comprehension(target=target, iter=items) if node is items:
                self._each(file, source, target, source.parents[parent], calls)
            case ast.comprehension():
                self._add(Role.DECIDES, file, node, "if")
            case ast.IfExp(test=test) if node is test:
                self._add(Role.DECIDES, file, parent, "if")
                return False
            case ast.Lambda() | ast.Await() | ast.Yield() | ast.YieldFrom():
                self._add(Role.UNKNOWN, file, node, "")
                return False
            case ast.BinOp():
                self._reckoned = True
        return isinstance(parent, ast.expr)

    def _statement(self, file: str, source: Source, node: ast.AST, stmt: ast.stmt, calls: int) -> None:
        match stmt:
            case ast.Expr() | ast.Raise() | ast.Delete():
                pass
            case ast.While():
                self._add(Role.ENDS_LOOP, file, stmt, "while")
            case ast.Assert():
                self._add(Role.FAILS, file, stmt, "assert")
            case ast.If():
                if (role := of_branches(source, stmt)) is not None:
                    self._add(role, file, stmt, "if")
            case ast.Assign(targets=targets):
                for target in targets:
                    self._assigned(file, source, target, stmt, calls)
            case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
                self._assigned(file, source, target, stmt, calls)
            case ast.For(target=target):
                self._each(file, source, target, stmt, calls)
            case ast.Return():
                self._returned(file, source, stmt, calls)
            case _:
                self._add(Role.UNKNOWN, file, node, "")

    def _argument(self, file: str, source: Source, node: ast.AST, call: ast.Call, calls: int) -> bool:
        """Whether a call's result is made of its argument; notes what else the call does with that."""
        name, whole = called(call), dotted(call.func)
        if whole in _NUMBERS:
            return True
        if root_of(call.func) in from_modules(source, call, "numpy", "math"):
            self._by_numpy = True
            return True
        if (role := self._framework_role(source, call)) is not None:
            self._add(role, file, call, whole)
        elif is_telling(call):
            pass
        elif is_environment(call):
            self._add(Role.ENVIRONMENT, file, call, whole)
        elif isinstance(call.func, ast.Attribute) and name in ("join", "format", "get"):
            return True
        elif isinstance(call.func, ast.Attribute) and name in KEEPING and not _definitions(source, name):
            self._kept(file, source, call.func.value, call)
        elif not self._into(file, source, node, call, calls):
            self._add(Role.UNKNOWN, file, call, whole or name)
        return False

    def _framework_role(self, source: Source, call: ast.Call) -> Role | None:
        """Return what a framework's function or metric needs its argument for; None for other calls."""
        name, root = called(call), root_of(call.func)
        if root in from_modules(source, call, *_FRAMEWORKS) and not (is_telling(call) and name != "log"):
            made = self._by_numpy or (self._reckoned and name in _CONVERTS)
            return Role.COMES_BACK if made else Role.GOES_BACK
        metric = metric_updated(source, call)
        if metric == "keras" and self._by_numpy:
            return Role.COMES_BACK
        return Role.METRIC if metric else None

    def _into(self, file: str, source: Source, node: ast.AST, call: ast.Call, calls: int) -> bool:
        """Follow an argument into the one function of the file that the call can mean; False for others."""
        made = _definitions(source, called(call))
        if (
            len(made) != 1
            or calls >= _MOST_FUNCTIONS
            or any(isinstance(one, ast.Starred) for one in call.args)
        ):
            return False
        function = made[0]
        if any(
            called(one) == "function" or dotted(one).endswith(".function") for one in function.decorator_list
        ):
            self._add(Role.GOES_BACK, file, call, dotted(call.func) or function.name)
            return True
        method = isinstance(source.parents[function], ast.ClassDef)
        if method != isinstance(call.func, ast.Attribute) or function.decorator_list or function.args.vararg:
            return False
        names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)][method:]
        given = dict(zip(map(id, call.args), names, strict=False))
        given |= {id(one.value): one.arg for one in call.keywords if one.arg}
        named = given.get(id(node))
        if named not in [*names, *(one.arg for one in function.args.kwonlyargs)] or named is None:
            return False
        self._loads(file, source, named, function.body, calls + 1)
        return True

    def _returned(self, file: str, source: Source, stmt: ast.Return, calls: int) -> None:
        function = source.function_of(stmt)
        if function is None or calls >= _MOST_FUNCTIONS or function.name in _BY_FRAMEWORK:
            self._add(Role.UNKNOWN, file, stmt, "")
            return
        found = [
            (name, text, node)
            for name, text in self._situation.sources
            for node in ast.walk(text.tree)
            if isinstance(node, ast.Call) and called(node) == function.name
        ]
        if not found or isinstance(stmt.value, ast.Tuple):
            self._add(Role.UNKNOWN, file, stmt, "")
        for name, text, node in found if not isinstance(stmt.value, ast.Tuple) else ():
            self.climb(name, text, node, calls + 1)

    def _assigned(self, file: str, source: Source, target: ast.expr, stmt: ast.stmt, calls: int) -> None:
        match target:
            case ast.Name():
                self._named(file, source, target, stmt, calls)
            case ast.Tuple():  # which of them the value is does not stand there
                self._add(Role.UNKNOWN, file, stmt, "")
            case _:
                self._kept(file, source, target, stmt)

    def _named(self, file: str, source: Source, target: ast.Name, stmt: ast.AST, calls: int) -> None:
        """Follow a name from where it gets the value to where it gets another, and around the loop."""
        scope = source.scopes_of(stmt)[0]
        for load in loads_of(source, target, stmt):
            if source.scopes_of(load)[0] is not scope:
                self._add(Role.UNKNOWN, file, load, "")
            else:
                self.climb(file, source, load, calls)

    def _each(self, file: str, source: Source, target: ast.expr, inside: ast.AST, calls: int) -> None:
        """Follow the names that get the parts of the value one after the other."""
        names = [one.id for one in ast.walk(target) if isinstance(one, ast.Name)]
        body = inside.body if isinstance(inside, ast.For) else [inside]
        for name in names:
            self._loads(file, source, name, body, calls)

    def _loads(self, file: str, source: Source, name: str, body: Sequence[ast.AST], calls: int) -> None:
        for part in body:
            for load in loads_in(part, name):
                self.climb(file, source, load, calls)

    def _kept(self, file: str, source: Source, path: ast.expr, stmt: ast.AST) -> None:
        """A list, or an object's attribute: what else reads it decides whether it is more than looked at."""
        while isinstance(path, ast.Subscript):
            path = path.value
        if isinstance(path, ast.Name):
            made = bindings(source, path.id, stmt)
            if not made or any(isinstance(one, ast.arg) for one in made):
                self._add(Role.UNKNOWN, file, stmt, "")
                return
            loop = source.loop_of(source.statement_of(stmt) or stmt)
            own = source.scopes_of(made[0])[0] is source.scopes_of(stmt)[0]
            whole: ast.AST = loop if loop is not None and own else source.tree
            reading = [one for one in loads_in(whole, path.id) if not is_only_kept(source, one)]
            if any(not is_looked_at(source, one) for one in reading):
                self._add(Role.KEPT if whole is loop else Role.UNKNOWN, file, stmt, path.id)
            return
        if not isinstance(path, ast.Attribute):
            self._add(Role.UNKNOWN, file, stmt, "")
            return
        if any(
            not is_only_kept(text, one) and not is_looked_at(text, one)
            for _, text in self._situation.sources
            for one in loads_of_attribute(text.tree, path.attr)
        ):
            self._add(Role.KEPT, file, stmt, source.code(path))


def _definitions(source: Source, name: str) -> list[Function]:
    return [one for one in ast.walk(source.tree) if isinstance(one, Function) and one.name == name]
