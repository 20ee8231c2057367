"""Devices that the code asks for and that do not exist here: what asked for them ran elsewhere, in silence.

Where a tensor crosses for it, its transfer tells it; of a script for GPUs on a machine without, none does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from app.facts.devices import in_order, parse
from app.facts.placement import BOUNDARY
from app.facts.tables import Tables
from app.facts.transfers.hops import Hop
from app.judgments.finding import Finding
from app.judgments.severity import WARNING
from app.views import units
from app.views.naming import some_of
from probes.trace.rows import Key

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
    known = {str(hop.cause.evidence.get("missing")) for hop in hops if hop.cause.code == CODE}
    asked: dict[str, list[_Asked]] = {}
    for one in _asked(tables):
        if one.missing not in devices and one.missing not in known and parse(one.missing) is not None:
            asked.setdefault(one.missing, []).append(one)
    return [_finding(asked[missing]) for missing in in_order(asked)]


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
    asked: dict[str, list[Key]] = {}
    for key in tables.of_kind("absent"):
        if key.count and key.fields.get("missing"):
            asked.setdefault(key.fields["missing"], []).append(key)
    return [_of_refused(missing, asked[missing], tables) for missing in in_order(asked)]


def _of_refused(missing: str, keys: Sequence[Key], tables: Tables) -> Finding:
    sites = list(dict.fromkeys(site for key in keys if (site := tables.site(key.fields.get("loc")))))
    site = sites[0] if sites else None
    ops = list(dict.fromkeys(str(key.fields.get("op") or "an op") for key in keys))
    gpus, built = keys[0].fields.get("gpus"), keys[0].fields.get("built_for_gpus")
    evidence: dict[str, Any] = {"missing": missing, "raised": ops, "asked_at": sites, "gpus": gpus}
    evidence["build"] = "for GPUs" if built else "without GPUs"
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
    evidence = {"missing": asked[0].missing, "ran_on": ran_on, "ops": len(asked), "asked_at": list(sites)}
    asking = f"The code at {first or 'an unknown line'} asks for"
    if len(sites) > 1:  # not each of them asks itself: a scope around it may
        asking = f"Code at {first} and {units.plural(len(sites) - 1, 'other line')} is to run on"
    summary = (
        f"{asking} {asked[0].missing}, which does not exist here:"
        f" {units.plural(len(asked), 'op')} ran on {some_of(ran_on, 'devices')} instead."
    )
    return Finding(CODE, WARNING, first, summary, evidence, None, (), True)
