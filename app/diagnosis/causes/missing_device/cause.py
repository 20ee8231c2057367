"""The requested device does not exist."""

from __future__ import annotations

import ast
import dataclasses
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from app.diagnosis.cause import Cause, of_line
from app.diagnosis.causes.missing_device.example import EXAMPLE
from app.diagnosis.wording.scope_openers import opened
from app.facts.devices import in_order, parse
from app.facts.groups import grouped
from app.facts.placement import BOUNDARY
from app.facts.tables import Tables
from app.facts.transfers.hops import Hop
from app.facts.transfers.transfer import READS, Transfer
from app.fixes.code.device_notation import alone, tf_named
from app.fixes.situation import Situation
from app.judgments.evidence import Known, TransferEvidence
from app.judgments.finding import Finding
from app.judgments.judgment import Judgment
from app.judgments.severity import WARNING
from app.views import units
from app.views.naming import each, one, some_of, told
from probes.trace.rows import Key


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evidence(TransferEvidence):
    """Of a device that the code asks for."""

    missing: Known[str] = None
    ran_on: Known[str] = None
    asked_in: Known[str] = None
    """Line of the scope that asks for it."""
    asked_at: list[str] | None = None
    ops: int | None = None
    raised: list[str] | None = None
    """MXNet's ops that did."""
    gpus: int | None = None
    """How many MXNet is shown."""
    build: str | None = None


CODE = "missing-device"


class _Asked(NamedTuple):
    """An op that asked for a device."""

    missing: str
    ran_on: str
    site: str | None
    """The line that asked where it is known, else the op's."""


def absent_findings(tables: Tables, hops: Sequence[Hop] = ()) -> list[Finding]:
    """One finding a device that no process has; none for those that are the cause of a hop."""
    devices = tables.own_devices
    if refused := _refused(tables):
        return refused
    if not devices:
        return []
    known = {one.missing for hop in hops if isinstance(one := hop.cause.evidence, Evidence)}
    asked = grouped((op.missing, op) for op in _asked(tables) if op.missing not in devices | known)
    return [_finding(asked[missing]) for missing in in_order(asked) if parse(missing)]


def _asked(tables: Tables) -> Iterator[_Asked]:
    for key in tables.eager_ops:
        wanted, ran_on = key.fields.get("requested") or "", key.fields.get("device") or ""
        if wanted and wanted != ran_on:
            line = key.fields.get("scope_loc") or key.fields.get("loc")
            yield _Asked(wanted, ran_on, tables.site(line))
    for graph in tables.own_graphs:
        for node in tables.nodes_of(graph.id):
            if node.requested and node.requested != node.assigned and node.op not in BOUNDARY:
                yield _Asked(node.requested, node.assigned, tables.site(node.loc))


def _refused(tables: Tables) -> list[Finding]:
    """Of MXNet, which takes no other device but raises: one finding a device, at the line that did."""
    told = [key for key in tables.of_kind("absent") if key.count and key.fields.get("missing")]
    asked = grouped((str(key.fields["missing"]), key) for key in told)
    return [_of_refused(missing, asked[missing], tables) for missing in in_order(asked)]


def _of_refused(missing: str, keys: Sequence[Key], tables: Tables) -> Finding:
    sites = list(dict.fromkeys(site for key in keys if (site := tables.site(key.fields.get("loc")))))
    site = sites[0] if sites else None
    ops = list(dict.fromkeys(str(key.fields.get("op") or "an op") for key in keys))
    gpus, built = keys[0].fields.get("gpus"), keys[0].fields.get("built_for_gpus")
    build = "for GPUs" if built else "without GPUs"
    evidence = Evidence(missing=missing, raised=ops, asked_at=sites, gpus=gpus, build=build)
    also = f" and {units.plural(len(sites) - 1, 'other line')}" if len(sites) > 1 else ""
    summary = (
        f"The code at {site or 'an unknown line'}{also} asks for {missing}, which does not exist here:"
        f" MXNet raised for {some_of(ops, 'ops')}."
    )
    return Finding(CODE, "error", site, summary, evidence, None, (), True)


def _finding(asked: list[_Asked]) -> Finding:
    sites = Counter(one.site for one in asked if one.site)
    first = next(iter(sites), None)
    ran_on = in_order({one.ran_on for one in asked if one.ran_on})
    evidence = Evidence(missing=asked[0].missing, ran_on=[*ran_on], ops=len(asked), asked_at=list(sites))
    asking = f"The code at {first or 'an unknown line'} asks for"
    if len(sites) > 1:  # not each of them asks itself: a scope around it may
        asking = f"Code at {first} and {units.plural(len(sites) - 1, 'other line')} is to run on"
    summary = (
        f"{asking} {asked[0].missing}, which does not exist here:"
        f" {units.plural(len(asked), 'op')} ran on {some_of(ran_on, 'devices')} instead."
    )
    return Finding(CODE, WARNING, first, summary, evidence, None, (), True)


def missing_device(transfer: Transfer) -> Evidence | None:
    """The device that the code named for an end does not exist here, and it ran on another.

    Not of a variable's value, which is read where that lives.
    """
    if transfer.blames == "producer" and transfer.producer_op in READS:
        return None
    name, ran_on, devices = transfer.own("requested"), transfer.here, transfer.context.devices
    missing = bool(devices) and parse(name) is not None and name not in devices and ran_on != name
    return Evidence(missing=name, ran_on=ran_on) if missing else None


def with_scope(evidence: Evidence, judgment: Judgment, key: Key, tables: Tables) -> Judgment:
    """The judgment with the line of the scope that asked for it."""
    scope = evidence.producer_scope if judgment.blames == "producer" else evidence.scope
    return judgment.knowing(asked_in=scope)


def because(evidence: Evidence) -> str:
    """A device was asked for that is not there."""
    if evidence.raised:
        support = "with" if evidence.build == "for GPUs" else "without"
        return f"This MXNet is built {support} support for GPUs, and is shown {evidence.gpus or 0} of them."
    if evidence.asked_at:
        return (
            "TensorFlow takes another device in silence where one does not exist;"
            " tf.config.set_soft_device_placement(False) makes it an error."
        )
    asked = f"{told(evidence.missing, 'devices')}{opened(evidence.asked_in)}"
    ran_on = told(evidence.ran_on, "devices")
    return f"Requested: {asked}; the runtime has no such device and placed it on {ran_on}."


def advice(evidence: Evidence) -> str:
    """To name a device that exists, or to find out why no GPU does."""
    if evidence.asked_at and one(evidence.missing).startswith("gpu:"):
        return (
            "The program is shown no such GPU: check the driver, the framework's build and"
            " CUDA_VISIBLE_DEVICES. What would cross with GPUs is foreseen by: python3 -m app preflight --"
            " SCRIPT."
        )
    return "Name a device that exists here, or let the framework refuse one that does not."


def named_at(situation: Situation, said: str) -> str:
    """The advice with the lines that name the missing device, if any do."""
    missing = alone(each(situation.evidence(Evidence).missing))
    if missing is None or situation.framework != "tensorflow":
        return said
    texts = [
        (file, node.lineno)
        for file, source in situation.sources
        for node in sorted(source.every(ast.Constant), key=lambda node: node.lineno)
        if isinstance(node.value, str) and tf_named(node) == missing
        if not isinstance(source.parents.get(node), ast.Expr)
    ]
    places = [f"{file}:{line}" for file, line in texts]
    return f"{said} {missing} is named at {some_of(places, 'lines')}." if places else said


CAUSE = Cause(
    code=CODE,
    severity=WARNING,
    evidence=Evidence,
    meaning="The requested device does not exist. TensorFlow takes another one silently, MXNet raises.",
    example=EXAMPLE,
    sometimes="warning; error where it raised",
    summary="The code at {at} asks for {missing}, which does not exist here; it ran on {ran_on}",
    because=because,
    advice=advice,
    line_advice=named_at,
    detect=lambda run: absent_findings(run.tables, run.hops) if run.launched else [],
    act=of_line,
    with_lines=with_scope,
)
