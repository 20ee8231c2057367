"""What a piece of code needs a value for that the host read: to end a loop, to decide, to keep it."""

from __future__ import annotations

import ast
import dataclasses
import enum
import re

from app.fixes.code.names import assigned, dotted, full_name
from app.fixes.code.parsed_source import Source
from app.fixes.flow.host_reads import only_reports

KEEPING = frozenset({"append", "extend", "appendleft", "insert", "add"})
METRIC_UPDATES = frozenset({"update", "update_dict", "update_state"})
_KERAS = re.compile(r"(tensorflow(\.\w+)*\.|tf_)?keras\.metrics\.[A-Z]\w+")
_MXNET = re.compile(r"mxnet(\.gluon)?\.metric\.\w+")
_ENVIRONMENT = re.compile(r"(?:.*\.)?(?:envs?|environment|env_[^.]*|[^.]*_envs?)", re.IGNORECASE)


class Role(enum.Enum):
    """What a use needs the value for; what is reported first stands first."""

    ENDS_LOOP = "ends_loop"
    FAILS = "fails"
    DECIDES = "decides"
    ENVIRONMENT = "environment"
    GOES_BACK = "goes_back"
    COMES_BACK = "comes_back"
    """What numpy makes of it goes back."""
    METRIC = "metric"
    """A metric of the framework's own is updated with it."""
    KEPT = "kept"
    UNKNOWN = "unknown"


@dataclasses.dataclass(frozen=True)
class Use:
    """One use of the value that is more than looking at it."""

    role: Role
    site: str
    by: str
    """What uses it, as code: ``tf.expand_dims``; '' where that says nothing."""


def of_branches(source: Source, stmt: ast.If) -> Role | None:
    """What an `if` decides; None where it only decides what is shown."""
    ends = [one for block in (stmt.body, stmt.orelse) for one in block[-1:]]
    leaves = ast.Break | ast.Return if source.loop_of(stmt) is not None else ast.Break
    if any(isinstance(one, leaves) for one in ends):
        return Role.ENDS_LOOP
    if any(isinstance(one, ast.Raise) for one in ends):
        return Role.FAILS
    shows = all(only_reports(one) or isinstance(one, ast.Pass) for one in (*stmt.body, *stmt.orelse))
    return None if shows else Role.DECIDES


def is_environment(call: ast.Call) -> bool:
    """Whether it is the step of what a program calls its environment."""
    match call.func:
        case ast.Attribute(value=holder, attr="step"):
            return _ENVIRONMENT.fullmatch(dotted(holder)) is not None
    return False


def metric_updated(source: Source, call: ast.Call) -> str:
    """``keras`` or ``mxnet`` for a call that updates a metric of that framework's; '' for any other."""
    holder: ast.expr = call.func
    if isinstance(holder, ast.Attribute) and holder.attr in METRIC_UPDATES:
        holder = holder.value
    path = dotted(holder)
    stmts = source.every(ast.stmt) if path else []
    made = [value for stmt in stmts for target, value in assigned(stmt) if dotted(target) == path]
    names = [full_name(source, one.func, one) if isinstance(one, ast.Call) else "" for one in made]
    if names and all(map(_KERAS.fullmatch, names)):
        return "keras"
    return "mxnet" if names and holder is not call.func and all(map(_MXNET.fullmatch, names)) else ""


def is_used(source: Source, node: ast.expr) -> bool:
    """Whether code that names a list or an attribute does more than add to it, or show it to people."""
    if only_reports(source.statement_of(node)):
        return False
    while isinstance(part := source.parents.get(node), ast.Subscript) and part.value is node:
        if isinstance(part.ctx, ast.Store):  # ``log["loss"] = x``
            return isinstance(source.parents.get(part), ast.AugAssign)
        node = part
    match source.statement_of(node):
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=holder, attr=name))) if holder is node:
            return name not in KEEPING
    return True
