"""What a piece of code needs a taken value for: to end a loop, to decide, to select, to keep it."""

from __future__ import annotations

import ast
import dataclasses
import enum

from app.fixes.code.names import dotted
from app.fixes.code.parsed_source import Source
from app.fixes.flow.host_reads import tells

KEEPING = frozenset({"append", "extend", "appendleft", "insert", "add"})


class Role(enum.Enum):
    """What a use needs the value for; what is said first stands first."""

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
    """What an `if` decides; None where it only decides what is told."""
    ends = [one for block in (stmt.body, stmt.orelse) for one in block[-1:]]
    in_loop = source.loop_of(stmt) is not None
    if any(isinstance(one, ast.Break) for one in ends):
        return Role.ENDS_LOOP
    if in_loop and any(isinstance(one, ast.Return) for one in ends):
        return Role.ENDS_LOOP
    if any(isinstance(one, ast.Raise) for one in ends):
        return Role.FAILS
    if all(tells(one) or isinstance(one, ast.Pass) for one in (*stmt.body, *stmt.orelse)):
        return None
    return Role.DECIDES


def is_environment(call: ast.Call) -> bool:
    """Whether it is the step of what a program calls its environment."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "step":
        return False
    holder = dotted(call.func.value).rpartition(".")[2].lower()
    return (
        holder in ("env", "envs", "environment")
        or holder.startswith("env_")
        or holder.endswith(("_env", "_envs"))
    )


def is_only_kept(source: Source, node: ast.expr) -> bool:
    """Whether the code only adds to what it names: ``losses.append(x)``, ``log["loss"].append(x)``."""
    while isinstance(part := source.parents.get(node), ast.Subscript) and part.value is node:
        if isinstance(part.ctx, ast.Store):
            return not isinstance(source.parents.get(part), ast.AugAssign)
        node = part
    method = source.parents.get(node)
    call = source.parents.get(method) if isinstance(method, ast.Attribute) else None
    return (
        isinstance(method, ast.Attribute)
        and method.attr in KEEPING
        and isinstance(call, ast.Call)
        and call.func is method
        and isinstance(source.parents.get(call), ast.Expr)
    )


def is_looked_at(source: Source, node: ast.expr) -> bool:
    """Whether it is read by a statement that tells people something."""
    return tells(source.statement_of(node))
