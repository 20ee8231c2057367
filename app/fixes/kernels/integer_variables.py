"""An int32 variable that a card reads: a scope does not bring it there, for no card keeps int32 variables.

TensorFlow registers a variable's kernels for cards for int64 and not for int32 (resource_variable_ops.cc), so
an int32 variable lives on the host whatever its scope says.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from app.facts.devices import is_gpu, is_host
from app.facts.transfers.hops import Hop
from app.fixes.code.change import Change
from app.fixes.code.names import assignment_of, called, keyword
from app.fixes.code.parsed_source import Source, own_nodes
from app.fixes.scopes.created_variables import variable_home as created_there
from app.fixes.situation import Draft, Situation

_TAKE_EITHER = frozenset(
    {"gather", "gather_nd", "embedding_lookup", "one_hot", "sparse_softmax_cross_entropy_with_logits"}
)
"""Calls that take int64 where they take int32, and give the same."""
ADVICE = "Make the variable int64, which a GPU keeps: an int32 one lives on the host whatever its scope says."
_WORDS = (
    "Makes the variable int64, which a GPU keeps: an int32 one lives on the host whatever its scope says;"
    " check that nothing else wants int32."
)


def variable_home(situation: Situation) -> Draft | None:
    """An int32 variable becomes int64 where all that uses it takes either; others are created elsewhere."""
    if situation.framework != "tensorflow" or not kept_on_host(situation.hops):
        return created_there(situation)
    source = situation.source
    found = {
        stmt: node.id
        for at in situation.statements
        for node in own_nodes(at)
        if isinstance(node, ast.Name) and (stmt := assignment_of(source, node.id, node)) and _types(stmt)
    }
    if len(found) != 1:
        return None
    ((stmt, name),) = found.items()
    if not _only_taken(source, name):
        return None
    change = Change(source)
    for node in _types(stmt):
        change.replace(node, source.code(node).replace("int32", "int64"))
    return situation.draft(_WORDS, change.text())


def kept_on_host(hops: Sequence[Hop]) -> bool:
    """Whether all of some transfers are of int32 variables from the host to GPUs."""
    return bool(hops) and all(is_host(hop.src) and is_gpu(hop.dst) and hop.dtype == "int32" for hop in hops)


def _types(stmt: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    """Where the statement, which makes a variable, says int32; all that it says must be by `dtype=`."""
    if called(stmt.value or stmt) != "Variable":
        return []
    given = [
        argument.value
        for call in ast.walk(stmt)
        if isinstance(call, ast.Call) and (argument := keyword(call, "dtype")) is not None
    ]
    named = [
        node
        for node in ast.walk(stmt)
        if (isinstance(node, ast.Attribute) and node.attr == "int32")
        or (isinstance(node, ast.Constant) and node.value == "int32")
    ]
    return list(given) if given and {*given} == {*named} else []


def _only_taken(source: Source, name: str) -> bool:
    """Whether all uses of the name are arguments of calls that take either type."""
    uses = [
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
    ]
    parents = [source.parents[node] for node in uses]
    return bool(uses) and all(
        isinstance(parent, ast.Call) and node in parent.args and called(parent) in _TAKE_EITHER
        for node, parent in zip(uses, parents, strict=True)
    )
