"""Trainers of MXNet that exchange the gradients of their replicas before each update."""

from __future__ import annotations

import ast

from app.diagnosis.causes.replica_drift.evidence import Evidence
from app.fixes.code.change import Change
from app.fixes.code.device_notation import alone
from app.fixes.code.names import called, calls_of, keyword
from app.fixes.situation import Draft, Situation

_WORDS = (
    "Has the replicas sum their gradients before each update: check that the batch size that the"
    " Trainer is given counts all replicas, and start from equal weights."
)


def exchanging(situation: Situation) -> Draft | None:
    """The Trainer gets a kvstore, and exchanges gradients before each update."""
    if situation.framework != "mxnet" or situation.evidence(Evidence).variables_made_at:
        return None  # of trainers with a copy each, none could exchange anything
    for stmt in situation.statements:
        update = alone(calls_of(stmt, "update", "step"))
        if isinstance(stmt, ast.Expr) and update is not None and stmt.value is update:
            texts = _exchanging(situation, stmt, update)
            return Draft(_WORDS, texts) if texts else None
    return None


def _exchanging(situation: Situation, stmt: ast.Expr, update: ast.Call) -> dict[str, str] | None:
    """The texts of the files with a Trainer that exchanges gradients; None where one is not to be found."""
    if (made := _trainer(situation)) is None:
        return None
    there, trainer = made
    apart, own_update = called(update) == "update", keyword(trainer, "update_on_kvstore")
    changes = {situation.file: Change(situation.source)}
    creation = changes.setdefault(there.file, Change(there.source))
    match keyword(trainer, "kvstore"):
        case ast.keyword(value=ast.Constant(value=None) as none):
            creation.replace(none, '"device"')
        case None | ast.keyword(value=ast.Constant()) if apart:
            pass  # it has one, by default too, but update() alone exchanges nothing
        case _:
            return None
    if apart:
        owner = situation.source.code(update.func).removesuffix(".update")
        changes[situation.file].line_before(stmt, f"{owner}.allreduce_grads()")
        if own_update is None:
            creation.add_argument(trainer, "update_on_kvstore=False")
        elif there.source.code(own_update.value) != "False":
            return None
    return {name: change.text() for name, change in changes.items()}


def _trainer(situation: Situation) -> tuple[Situation, ast.Call] | None:
    """The one call that creates the Trainer, by the line that is recorded, else the file's only one."""
    site = situation.evidence(Evidence).trainer_made_at
    there = situation.at(site) if site is not None else situation
    if there is None:
        return None
    calls = [call for call in there.source.every(ast.Call) if called(call) == "Trainer"]
    trainer = alone(
        [call for call in calls if site is None or call.lineno <= there.line <= (call.end_lineno or 0)]
    )
    if trainer is None or any(one.arg is None for one in trainer.keywords):
        return None
    return there, trainer
