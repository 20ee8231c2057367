"""What is foreseen of several processes, put together: each with its name, what is alike told once."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from app.facts.devices import in_order
from app.facts.tables import Tables
from app.facts.transfers.hops import Hop
from app.judgments.severity import RANK
from app.views import units

_MOST_NAMED = 4
_COUNTED = frozenset({"hops", "ops", "count"})
"""What rows that say the same have together."""
Rows = list[dict[str, Any]]


@dataclasses.dataclass(frozen=True)
class Foreseen:
    """The foreseen run of one process."""

    pid: int
    tables: Tables
    hops: Sequence[Hop]
    report: dict[str, Any]
    """Its part of the pre-flight's report, ready for JSON."""


def together(foreseen: Sequence[Foreseen], names: Mapping[int, str]) -> dict[str, Any]:
    """The rows of a report of all processes; the one that did most is told first.

    `names` are the processes' by their ids. With several, each row of findings, kernels and of what is not
    foreseen says in `processes` whose it is, and the report's `processes` has what each of them would do.
    """
    ordered = sorted(foreseen, key=lambda one: -len(one.tables.keys))
    rows = [one.report for one in ordered]
    if len(rows) == 1:
        return rows[0] | {"processes": []}
    named = [names.get(one.pid, f"process {one.pid}") for one in ordered]
    offsets = [sum(len(row["hops"]) for row in rows[:number]) for number in range(len(rows))]
    for row, offset in zip(rows, offsets, strict=True):
        for finding in row["findings"]:
            finding["hops"] = [index + offset for index in finding["hops"]]
    findings = _alike(rows, named, "findings", lambda row: (row["code"], row["severity"], row["summary"]))
    for finding in findings:
        where = whose(finding["processes"], len(rows))
        finding["summary"] += f" So {where}."
    return {
        "gpus": max(row["gpus"] for row in rows),
        "gpus_named": max(row["gpus_named"] for row in rows),
        "stand_ins": in_order({name for row in rows for name in row["stand_ins"]}),
        "kernel_table": rows[0]["kernel_table"],
        "steps": max((row["steps"] or 0 for row in rows), default=0) or None,
        "steps_made": max(row["steps_made"] for row in rows),
        "processes": [
            {"process": name, "steps": row["steps"], "placement": row["placement"]}
            for name, row in zip(named, rows, strict=True)
        ],
        "placement": _summed([row["placement"] for row in rows]),
        "no_kernel": _alike(rows, named, "no_kernel", lambda row: (row["op"], row["site"], row["kernel"])),
        **{
            part: [
                one | {"process": name} for name, row in zip(named, rows, strict=True) for one in row[part]
            ]
            for part in ("hops", "syncs")
        },
        "findings": sorted(findings, key=lambda row: RANK[row["severity"]]),
        "libraries": sorted(
            _alike(rows, named, "libraries", lambda row: (row["what"], row["site"])),
            key=lambda row: RANK[row["severity"]],
        ),
        "unforeseen": _alike(rows, named, "unforeseen", lambda row: (row["what"], row["site"], row["why"])),
    }


def whose(processes: Sequence[str], of: int) -> str:
    """Of which processes something is told, `of` so many; '' where there is only one."""
    if not processes:
        return ""
    if len(processes) == of:
        return f"in each of the {of} processes"
    few = processes if len(processes) <= _MOST_NAMED else processes[: _MOST_NAMED - 1]
    more = len(processes) - len(few)
    rest = [units.plural(more, "more process", "more processes")] if more else []
    return f"in {', '.join([*few, *rest])}"


def _alike(
    rows: Sequence[Mapping[str, Any]],
    names: Sequence[str],
    part: str,
    identity: Callable[[Mapping[str, Any]], tuple[Any, ...]],
) -> Rows:
    """The rows of a part of all processes, those that say the same as one; `processes` says whose."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for name, report in zip(names, rows, strict=True):
        for row in report[part]:
            known = found.get(identity(row))
            if known is None:
                found[identity(row)] = row | {"processes": [name]}
                continue
            if name not in known["processes"]:
                known["processes"].append(name)
            for counted in _COUNTED & row.keys():
                known[counted] = known[counted] + row[counted]
    return list(found.values())


def _summed(placements: Sequence[Rows]) -> Rows:
    found: dict[str, dict[str, Any]] = {}
    for row in (row for placement in placements for row in placement):
        known = found.setdefault(row["device"], {"device": row["device"], "ops": 0, "nobody_asked": 0})
        known["ops"] += row["ops"]
        known["nobody_asked"] += row["nobody_asked"]
    return list(found.values())
