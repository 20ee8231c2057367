"""Trainers of MXNet that exchange the gradients of their replicas before each update."""

from __future__ import annotations

import ast

from app.diagnosis.causes.replica_drift.evidence import Evidence
from app.facts.lines import split_site
from app.fixes.code.change import Change
from app.fixes.code.names import called, keyword
from app.fixes.code.parsed_source import Source, own_nodes
from app.fixes.situation import Draft, Situation

_DRIFT = (
    "Has the replicas sum their gradients before each update: check that the batch size that the"
    " Trainer is given counts all replicas, and start from equal weights."
)


def replica_drift(situation: Situation) -> Draft | None:
    """The Trainer gets a kvstore, and exchanges gradients before each update."""
    if situation.framework != "mxnet" or situation.evidence(Evidence).variables_made_at:
        return None  # of trainers with a copy each, none could exchange anything
    for stmt in situation.statements:
        updates = [
            node
            for node in own_nodes(stmt)
            if isinstance(node, ast.Call) and called(node) in ("update", "step")
        ]
        if len(updates) != 1 or not isinstance(stmt, ast.Expr) or stmt.value is not updates[0]:
            continue
        texts = _exchanging(situation, stmt, updates[0])
        return Draft(_DRIFT, texts) if texts else None
    return None


def _exchanging(situation: Situation, stmt: ast.Expr, update: ast.Call) -> dict[str, str] | None:
    """The texts of the files with a Trainer that exchanges gradients; None where one is not to be found."""
    if (made := _trainer(situation)) is None:
        return None
    file, source, trainer = made
    apart, store = called(update) == "update", keyword(trainer, "kvstore")
    own_update = keyword(trainer, "update_on_kvstore")
    changes = {situation.file: Change(situation.source)}
    making = changes.setdefault(file, Change(source))
    match store:
        case ast.keyword(value=ast.Constant(value=None) as none):
            making.replace(none, '"device"')
        case None | ast.keyword(value=ast.Constant()) if apart:
            pass  # it has one, by default too, but update() alone exchanges nothing
        case _:
            return None
    if apart:
        owner = situation.source.code(update.func).removesuffix(".update")
        changes[situation.file].line_before(stmt, f"{owner}.allreduce_grads()")
        if own_update is None:
            making.add_argument(trainer, "update_on_kvstore=False")
        elif source.code(own_update.value) != "False":
            return None
    return {name: change.text() for name, change in changes.items()}


def _trainer(situation: Situation) -> tuple[str, Source, ast.Call] | None:
    """The one call that makes the Trainer, by the line that is told, else the file's only one."""
    place = split_site(situation.evidence(Evidence).trainer_made_at)
    source = situation.opened(place[0]) if place else situation.source
    found = [
        call
        for call in (ast.walk(source.tree) if source is not None else ())
        if isinstance(call, ast.Call) and called(call) == "Trainer"
        if place is None or call.lineno <= place[1] <= (call.end_lineno or 0)
    ]
    if source is None or len(found) != 1 or any(one.arg is None for one in found[0].keywords):
        return None
    return (place[0] if place else situation.file), source, found[0]
