"""What a user should know, ranked: one mistake is one finding, however many tensors it moves."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from app.diagnosis.cause import Run
from app.diagnosis.causes.bounce.detection import bounces
from app.diagnosis.causes.bounce.paths import Chain, chains
from app.diagnosis.causes.host_sync.cause import of_syncs
from app.diagnosis.causes.variable_home.groups import (
    Changed,
    join_alike,
    made_together,
    nothing_changed,
    with_changes,
)
from app.diagnosis.causes.xla_opaque.cause import Evidence as Compiled
from app.diagnosis.detectors.consequences import consequences
from app.diagnosis.detectors.transfer_findings import of_hops
from app.diagnosis.detectors.unseen_work import of_runtime, of_unseen
from app.diagnosis.registry import BY_CODE, detected
from app.diagnosis.row_shares import untold
from app.diagnosis.wording.transfer_costs import Telling, told_at
from app.facts.devices import is_host
from app.facts.groups import grouped
from app.facts.lines import split_site
from app.facts.placement import changing, op_table
from app.facts.syncs import Sync
from app.facts.tables import Tables
from app.facts.transfers.hops import Hop
from app.facts.unseen_rows import by_xla, inside
from app.judgments.finding import Finding
from app.judgments.severity import RANK
from probes.trace.rows import BETWEEN_WINDOWS, RUNTIMES_GRAPHS, Unseen

_NO_GAPS = (RUNTIMES_GRAPHS, BETWEEN_WINDOWS)
"""What went unseen without anything missing from the findings."""

UNPACED = Telling(0, "call")
"""Where it is not known how often "every step" is, nor how long the run was recorded."""


def run_findings(
    tables: Tables, hops: Sequence[Hop], syncs: Sequence[Sync], spec: Mapping[str, Any] | None = None
) -> list[Finding]:
    """All findings of a run whose hops and syncs are these, and that was launched by this `spec`."""
    more = detected(Run(tables, hops, spec))
    found = chains(tables, hops)
    ops = functools.cache(lambda: op_table(tables))
    return findings(
        hops,
        syncs,
        tables.unseen,
        Telling(tables.rounds, "step" if tables.steps else "call", tables.span_ns),
        more,
        found,
        lambda device: changing(ops(), device),
    )


def findings(
    hops: Sequence[Hop],
    syncs: Sequence[Sync],
    unseen: Sequence[Unseen],
    telling: Telling = UNPACED,
    more: Iterable[Finding] = (),
    detours: Sequence[Chain] = (),
    changed: Changed = nothing_changed,
) -> list[Finding]:
    """All findings: first what could not be seen, then by severity; what recurs first, by its cost.

    `more` are findings about something else than transfers and waits, to be ranked among them. The hops of
    `detours` are told with these alone. `changed` tells the lines that change variables of a device.
    """
    found = bounces(detours, hops, syncs, telling)
    over = untold(found, hops)
    groups: dict[tuple[Any, ...], list[int]] = {}
    for index, hop in enumerate(over):
        if hop.count != 0 and not _stays_on_host(hop):
            at = made_together(hop) or (hop.blamed_site,)
            groups.setdefault((hop.cause.code, *at, *BY_CODE[hop.cause.code].act(hop)), []).append(index)
    join_alike(groups, over, telling)
    taken = consequences(groups, over, telling)
    with_changes(groups, over, telling, taken, changed)
    found += [
        of_hops(_line_first(rows, over), over, hops, syncs, telling, taken.get(act, ()))
        for act, of_it in groups.items()
        if (rows := [row for row in of_it if not any(row in others for others in taken.values())])
    ]
    told_of = {
        (hop.src, hop.site, False)
        for hop in hops
        if hop.count != 0 and (hop.kind == "pull" or hop.cause.code == "host-sync")
    }
    told_of |= {(hop.dst, hop.site, True) for hop in hops if hop.kind == "upload" and hop.count != 0}
    waits = grouped(
        ((sync.site, sync.kind, sync.takes), sync)
        for sync in syncs
        if not is_host(sync.waited_for) and sync.count and told_at(sync) not in told_of
    )
    found += [of_syncs(alike, telling) for alike in waits.values()]
    found += more
    found.sort(key=_order)
    functions = {one.function for finding in found if isinstance(one := finding.evidence, Compiled)}
    apart = [row for row in unseen if not (by_xla(row) and inside(row) in functions)]
    first = [of_unseen(row, bool(functions)) for row in apart if row.what not in _NO_GAPS]
    return first + found + [of_runtime(row) for row in apart if row.what == RUNTIMES_GRAPHS]


def _stays_on_host(hop: Hop) -> bool:
    """Python's data that a device's kernel reads from host memory: shapes, axes, seeds. It goes nowhere."""
    return hop.cause.code == "host-upload" and hop.dst_memory == "host" and not is_host(hop.dst)


def _line_first(rows: list[int], hops: Sequence[Hop]) -> list[int]:
    """Of rows of several lines those of the line first that moves most, and of equals of the upper one."""
    moved: dict[str | None, int] = {}
    for row in rows:
        site = hops[row].blamed_site
        moved[site] = moved.get(site, 0) + (hops[row].bytes_total or 0)
    if len(moved) < 2:
        return rows
    first = min(moved, key=lambda site: (-moved[site], split_site(site) or ("", 0)))
    return sorted(rows, key=lambda row: hops[row].blamed_site != first)


def _order(finding: Finding) -> tuple[int, bool, bool, int]:
    """What hides others stands before them."""
    hides = BY_CODE[finding.code].hides_others
    return RANK.get(finding.severity, 9), not hides, not finding.recurs, -finding.cost_ns
