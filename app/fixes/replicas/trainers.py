"""Where a gluon Trainer is made, a class of one's own included, and what it says of exchanging gradients."""

from __future__ import annotations

import ast

from app.facts.lines import split_site
from app.fixes.code.names import called, dotted, keyword
from app.fixes.code.parsed_source import Source, own_nodes
from app.fixes.situation import Situation

_SAME = "then all replicas apply the same gradients."


def trainer_of(situation: Situation) -> tuple[str, Source, ast.Call] | None:
    """The one call that makes the Trainer, by the line that is told, else the file's only one."""
    told = [split_site(str(site)) for site in situation.evidence("trainer_made_at")]
    place = told[0] if len(told) == 1 else None
    source = situation.opened(place[0]) if place else situation.source
    if source is None:
        return None
    found = [
        call for call in _makers(source) if place is None or call.lineno <= place[1] <= (call.end_lineno or 0)
    ]
    if len(found) != 1 or len(found[0].args) > 3 or any(one.arg is None for one in found[0].keywords):
        return None
    return (place[0] if place else situation.file), source, found[0]


def of_drift(situation: Situation, said: str) -> str:
    """What to say of replicas whose Trainer exchanges nothing, by how the source makes it; else `said`."""
    made = trainer_of(situation)
    if made is None or situation.evidence("variables_made_at"):
        return said
    site, store = f"{made[0]}:{made[2].lineno}", keyword(made[2], "kvstore")
    value = store.value if store is not None else None
    none = isinstance(value, ast.Constant) and value.value is None
    if value is not None and not isinstance(value, ast.Constant):
        return said
    own = keyword(made[2], "update_on_kvstore")
    apart = own is not None and isinstance(own.value, ast.Constant) and own.value.value is False
    needs = "" if apart else ", which needs update_on_kvstore=False there"
    give = f"Give the Trainer that is made at {site} a kvstore in place of None"
    if not _updates(situation):
        return f"{give}: its step() sums the replicas' gradients then before it updates." if none else said
    before = f"call its allreduce_grads() before update() at {situation.finding.site}"
    if none:
        return f"{give}, and {before}{needs}: {_SAME}"
    has = f"The Trainer that is made at {site} has a kvstore, but update() alone exchanges nothing"
    return f"{has}: {before}{needs}; {_SAME}"


def _makers(source: Source) -> list[ast.Call]:
    return [
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and (called(node) == "Trainer" or _of_a_subclass(source, node))
    ]


def _of_a_subclass(source: Source, call: ast.Call) -> bool:
    """Whether it is ``super().__init__(..)`` in a class that is derived from a Trainer."""
    function = call.func
    if not isinstance(function, ast.Attribute) or function.attr != "__init__":
        return False
    holder = next((one for one in source.ancestors(call) if isinstance(one, ast.ClassDef)), None)
    if holder is None or called(function.value) != "super":
        return False
    return [dotted(one).rpartition(".")[2] for one in holder.bases] == ["Trainer"]


def _updates(situation: Situation) -> bool:
    """Whether the line applies the gradients by a call of ``update``."""
    nodes = (node for stmt in situation.statements for node in own_nodes(stmt))
    return any(isinstance(node, ast.Call) and called(node) == "update" for node in nodes)
