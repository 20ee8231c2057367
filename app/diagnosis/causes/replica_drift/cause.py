"""Parameters of replicas grow apart because nothing exchanges their gradients."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from app.diagnosis.cause import Cause
from app.diagnosis.causes.replica_drift.example import EXAMPLE
from app.facts.devices import in_order
from app.facts.groups import grouped
from app.facts.tables import Tables
from app.fixes.code import device_notation
from app.fixes.code.change import Change
from app.fixes.code.names import called, calls_of, keyword
from app.fixes.situation import Draft, Situation
from app.judgments.evidence import FindingEvidence, Known, Record
from app.judgments.finding import Finding
from app.judgments.severity import ERROR
from app.views import units
from app.views.naming import alone, some_of, told
from probes.trace.rows import Event, Key


@dataclasses.dataclass(frozen=True, kw_only=True)
class Steps(Record):
    """The steps of the first and the last comparison."""

    first_check_step: int | None
    last_check_step: int | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Updates(Record):
    """The updates of each replica before them."""

    first_check_updates: int
    last_check_updates: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evidence(FindingEvidence):
    """Of the comparisons of the replicas of one line."""

    devices: list[str]
    exchange: str
    parameters: int
    parameters_differing: int
    parameter_with_the_largest_difference: str | None
    first_check_largest_difference_ppb: int
    last_check_largest_difference_ppb: int
    checks: int
    between: Steps | Updates
    trainer_made_at: str | None = None
    variables_made_at: Known[str] = None


CODE = "replica-drift"
ROUNDING_PPB = 1_000
"""Relative differences up to here, in parts per billion, may be rounding: single precision has 60."""

_FIX_OF_TOWERS = (
    "Apply the mean of all replicas' gradients to each of them: collect the gradients first, then update; or"
    " let tf.distribute.MirroredStrategy make the replicas, which keeps them equal."
)
"""For variables that the code itself made on several devices."""
_FIX_OF_COPIES = (
    "Apply the sum of all replicas' gradients to each of them: initialize one net on all contexts, with one"
    " gluon.Trainer, which sums them; or sum the gradients by hand before each update."
)
"""The same of MXNet."""

_Replicas = tuple[int, tuple[str, ...], int, str]
"""Process, devices, line and exchange of the comparisons that belong together."""


@dataclasses.dataclass(frozen=True)
class Check:
    """One comparison of the replicas' parameters."""

    step: int | None
    parameters: int = 0
    """How many were compared."""
    differing: int = 0
    """How many of them are not equal on all devices."""
    largest_ppb: int = 0
    """The largest relative difference, in parts per billion."""
    parameter: str = ""
    """Which parameter has it; '' where none differs."""
    updates: int = 0
    """How many each replica had applied; 0 where only the step tells."""

    @property
    def differs(self) -> bool:
        """Whether the replicas differ by more than rounding."""
        return self.differing > 0 and self.largest_ppb > ROUNDING_PPB


def drift_findings(tables: Tables) -> list[Finding]:
    """One finding for the replicas of a line that differ more and more, and exchange no gradients."""
    keys = {key.id: key for key in tables.of_kind("drift")}
    if not keys:
        return []
    groups = grouped(
        (_replicas(keys[event.key]), event)
        for event in tables.events_of("drift")
        if event.key in keys and event.value is not None
    )
    found = []
    for replicas, events in groups.items():
        checks = checks_of(events, keys)
        if not replicas[-1] and drifts(checks) and not _assigned(events, keys):
            last = max(events, key=lambda event: event.ts_ns)
            found.append(_finding(tables, replicas, checks, keys[last.key].fields))
    return found


def _assigned(events: Iterable[Event], keys: Mapping[int, Key]) -> bool:
    """Whether the replicas get values by something else too, such as an average every so many steps."""
    return any(keys[event.key].fields.get("what") == "assigned" for event in events)


def checks_of(events: Iterable[Event], keys: Mapping[int, Key]) -> list[Check]:
    """The comparisons by time: each has one event a figure."""
    checks: list[Check] = []
    told: set[str] = set()
    for event in sorted(events, key=lambda event: event.ts_ns):
        fields, value = keys[event.key].fields, event.value or 0
        what = fields.get("what") or ""
        if what == "assigned":
            continue
        if not checks or checks[-1].step != event.step or what in told:
            checks.append(Check(event.step))
            told.clear()
        told.add(what)
        last = checks.pop()
        last = dataclasses.replace(last, parameters=max(last.parameters, fields.get("parameters") or 0))
        if what == "differing":
            last = dataclasses.replace(last, differing=value)
        elif what == "largest_ppb":
            last = dataclasses.replace(last, largest_ppb=value, parameter=fields.get("parameter") or "")
        elif what == "updates":
            last = dataclasses.replace(last, updates=value)
        checks.append(last)
    return checks


def drifts(checks: Sequence[Check]) -> bool:
    """Whether the last comparison differs, and not by chance: more than the first did, or as all of them.

    Replicas that are equal again after they differed exchange something every so many steps.
    """
    if len(checks) < 2 or not checks[-1].differs:
        return False
    apart = [check.differs for check in checks]
    if not all(apart[apart.index(True) :]):
        return False
    return checks[-1].largest_ppb > checks[0].largest_ppb or all(check.differs for check in checks)


def _replicas(key: Key) -> _Replicas:
    fields = key.fields
    devices = tuple(in_order(fields.get("devices") or ()))
    return key.id >> 32, devices, fields.get("loc") or 0, fields.get("exchange") or ""


def _finding(tables: Tables, replicas: _Replicas, checks: list[Check], fields: Mapping[str, Any]) -> Finding:
    _, devices, loc, _ = replicas
    first, last, site = checks[0], checks[-1], tables.site(loc)
    trainer = tables.site(fields.get("made_loc"))
    # Runs of earlier recorders name one line.
    lines = fields.get("variables_locs") or [fields.get("variables_loc")]
    variables = list(dict.fromkeys(made for line in lines if (made := tables.site(line))))
    evidence = Evidence(
        devices=list(devices),
        exchange="none",
        parameters=last.parameters,
        parameters_differing=last.differing,
        parameter_with_the_largest_difference=last.parameter or None,
        first_check_largest_difference_ppb=first.largest_ppb,
        last_check_largest_difference_ppb=last.largest_ppb,
        checks=len(checks),
        between=Updates(first_check_updates=first.updates, last_check_updates=last.updates)
        if last.updates
        else Steps(first_check_step=first.step, last_check_step=last.step),
        trainer_made_at=trainer,
        variables_made_at=alone(variables) if variables else None,
    )
    by = f", by the trainer of {trainer}" if trainer else ""
    what = f" ({last.parameter})" if last.parameter else ""
    grew = "up from" if last.largest_ppb > first.largest_ppb else "and"
    where = some_of(devices, "devices") or "several devices"
    now, before = units.relative(last.largest_ppb), units.relative(first.largest_ppb)
    summary = (
        f"The replicas on {where} drift apart: {last.differing} of"
        f" {units.plural(last.parameters, 'parameter')} differ, by up to {now} of the largest value{what}"
        f"{_at(last)}, {grew} {before}{_at(first)}; no gradients are"
        f" exchanged between them at {site or 'an unknown line'}{by}."
    )
    fix = None
    if variables:
        mxnet = any(process.framework == "mxnet" for process in tables.processes)
        fix = _FIX_OF_COPIES if mxnet else _FIX_OF_TOWERS
    return Finding(CODE, ERROR, site, summary, evidence, fix, (), recurs=True)


def _at(check: Check) -> str:
    if check.updates:  # of each replica: several optimizers' steps are counted together
        return f" after {units.plural(check.updates, 'update')}"
    return "" if check.step is None else f" at step {units.count(check.step)}"


def because(evidence: Evidence) -> str:
    """How it was seen that replicas differ."""
    match evidence.between:
        case Updates(first_check_updates=first, last_check_updates=last):
            # Of each replica: steps count those of several optimizers together.
            what = f"{first} to {last} updates of each"
        case Steps(first_check_step=first_step, last_check_step=last_step):
            what = f"{told(first_step)} to {told(last_step)} steps"
    return (
        f"The replicas' parameters were compared {evidence.checks} times, after {what}, and nothing was seen"
        " to exchange gradients between them."
    )


_WORDS = (
    "Has the replicas sum their gradients before each update: check that the batch size that the"
    " Trainer is given counts all replicas, and start from equal weights."
)


def exchanging(situation: Situation) -> Draft | None:
    """The Trainer gets a kvstore, and exchanges gradients before each update."""
    if situation.framework != "mxnet" or situation.evidence(Evidence).variables_made_at:
        return None  # of trainers with a copy each, none could exchange anything
    for stmt in situation.statements:
        update = device_notation.alone(calls_of(stmt, "update", "step"))
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
    trainer = device_notation.alone(
        [call for call in calls if site is None or call.lineno <= there.line <= (call.end_lineno or 0)]
    )
    if trainer is None or any(one.arg is None for one in trainer.keywords):
        return None
    return there, trainer


CAUSE = Cause(
    code=CODE,
    severity=ERROR,
    evidence=Evidence,
    meaning="Parameters of replicas grow apart because nothing exchanges their gradients.",
    example=EXAMPLE,
    because=because,
    advice=(
        "Give the Trainer a kvstore if it has none, and call its allreduce_grads() before update(), which"
        " alone exchanges nothing and needs update_on_kvstore=False: then all replicas apply"
        " the same gradients."
    ),
    detect=lambda run: drift_findings(run.tables),
    fix=exchanging,
)
