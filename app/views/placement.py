"""The placement diagram as plain data for app/components/diagram: numbers told, hues chosen."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from app.views import units
from app.views.colors import device_colors, is_alert, is_host
from app.views.placement_data import EAGER, Crossing, Diagram, GraphChoice, Group, Lane
from app.views.selection import Selection

TYPES_SHOWN = 6
DETAILS_SHOWN = 5

THINNEST, WIDEST = 2.0, 9.0
"""Powers of ten of the bytes that the thinnest and the widest crossing stand for: 100 B to 1 GB."""

EMPTY = "No op has been placed yet. The diagram fills as soon as the program runs its first op."


def diagram_data(
    diagram: Diagram,
    selection: Selection | None = None,
    *,
    devices: Sequence[str] = (),
    hops: Sequence[Mapping[str, Any]] = (),
    opened: Collection[str] = (),
    empty: str = EMPTY,
) -> dict[str, Any]:
    """What `app.components.diagram.placement.placement_diagram` draws.

    `devices` are all of the run's, so that hues agree with the other views; `hops` the rows of the report's
    hop table that crossings point into (for sizes and source lines in the tooltips); `opened` the scopes
    that were expanded (`Group.expand`), shown as chips that close them again; `empty` what is said when
    there is nothing to draw.
    """
    hues = device_colors([*devices, *(lane.device for lane in diagram.lanes)])
    chosen = selection or Selection()
    labels = distinct_labels(diagram.groups)
    drawn = {group.id for group in diagram.groups}
    crossings = [
        cross for cross in diagram.crossings if cross.src_group in drawn and cross.dst_group in drawn
    ]
    return {
        "lanes": [_lane(lane, hues) for lane in diagram.lanes],
        "groups": [
            _group(group, labels[group.id], hues)
            for group in sorted(diagram.groups, key=lambda group: (group.rank, group.id))
        ],
        "crossings": [_crossing(crossing, hops) for crossing in crossings],
        "links": [
            [link.src_group, link.dst_group]
            for link in diagram.links
            if link.src_group in drawn and link.dst_group in drawn
        ],
        "selection": {
            "group": chosen.group if chosen.group in drawn else "",
            "crossings": [crossing.id for crossing in crossings if _is_selected(crossing, chosen)],
            "filtered": bool(chosen.crossing or chosen.hops or chosen.pair),
        },
        "opened": [{"expand": key, "label": opened_label(key)} for key in opened],
        "causes": _causes(crossings),
        "badges": any(group.hops for group in diagram.groups),
        "scale": [{"label": units.size(1024**power), "weight": _weight(1024**power)} for power in (1, 2, 3)],
        "title": _title(diagram),
        "traces": _traces(diagram),
        "note": _note(diagram, len(diagram.crossings) - len(crossings)),
        "empty": empty,
    }


def opened_label(expand: str) -> str:
    """What a chip says for an opened scope, whose key is ``<graph>|<device>|<scope>`` or a scope path."""
    scope = expand.rpartition("|")[2]
    return scope or "top level"


def crossing_text(crossing: Crossing) -> str:
    """Bytes and count of all transfers in a crossing: ``4.69 MiB · 300x``."""
    return units.transfer(crossing.bytes_total, crossing.count, crossing.bytes_known)


def collective_label(crossing: Crossing) -> str:
    """What stands at a collective's arrows: ``all-reduce · ring · 332 KiB payload · 20x``."""
    payload = f"{units.size(crossing.payload)} payload"
    return " · ".join((crossing.collective, payload, units.times(crossing.count)))


def distinct_labels(groups: Sequence[Group]) -> dict[str, str]:
    """Each group's label by its id; where scopes share one, with as much of the path as tells them apart."""
    labels = {group.id: group.label or "top level" for group in groups}
    paths = {group.id: [*group.scope.split("/")[:-1], labels[group.id]] for group in groups if group.scope}
    for parts in range(2, 1 + max((len(path) for path in paths.values()), default=0)):
        scopes: dict[str, set[str]] = {}
        for group in groups:
            scopes.setdefault(labels[group.id], set()).add(group.scope)
        for group in groups:
            if len(scopes[labels[group.id]]) > 1 and group.id in paths:
                labels[group.id] = "/".join(paths[group.id][-parts:])
    return labels


def _lane(lane: Lane, hues: Mapping[str, str]) -> dict[str, Any]:
    remark = "host" if is_host(lane.device) else "stand-in" if lane.stand_in else ""
    return {
        "device": lane.device,
        "hue": hues[lane.device],
        "remark": remark,
        "ops": "0 ops drawn" if lane.elsewhere else units.plural(lane.ops, "op"),
    }


def _group(group: Group, label: str, hues: Mapping[str, str]) -> dict[str, Any]:
    types = [f"{op} {units.count(number)}" for op, number in group.op_histogram[:TYPES_SHOWN]]
    left_out = len(group.op_histogram) - TYPES_SHOWN
    if left_out > 0:
        types.append(f"{left_out} more")
    mixed = group.device_histogram if len(group.device_histogram) > 1 else ()
    return {
        "id": group.id,
        "label": label,
        "scope": group.scope,
        "device": group.device,
        "rank": group.rank,
        "ops": group.ops,
        "hops": group.hops,
        "kind": group.kind,
        "expandable": group.expandable and not group.expanded,
        "expanded": group.expanded,
        "expand": group.expand,
        "site": group.site or "",
        "types": types,
        "mix": [[hues.get(device, ""), number, device] for device, number in mixed],
        "series": list(group.series),
    }


def _crossing(crossing: Crossing, hops: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    known = crossing.bytes_total if crossing.bytes_total is not None else crossing.bytes_known
    rows = [hops[index] for index in crossing.hops if 0 <= index < len(hops)]
    return {
        "id": crossing.id,
        "src": crossing.src_group,
        "dst": crossing.dst_group,
        "from": crossing.src_device,
        "to": crossing.dst_device,
        "bytes": crossing.bytes_total,
        "count": crossing.count,
        "text": collective_label(crossing) if crossing.collective else crossing_text(crossing),
        "share": crossing_text(crossing) if crossing.collective else "",
        "collective": bool(crossing.collective),
        "weight": _weight(known),
        "alert": is_alert(crossing.severity),
        "severity": crossing.severity,
        "cause": crossing.cause,
        "basis": crossing.basis,
        "hops": list(crossing.hops),
        "tensors": list(crossing.tensors),
        "details": _details(rows),
        "sites": _sites(crossing, rows),
    }


def _sites(crossing: Crossing, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    if crossing.collective:
        return [crossing.site] if crossing.site else []
    return list(dict.fromkeys(str(row["site"]) for row in rows if row.get("site")))[:DETAILS_SHOWN]


def _details(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """The largest transfers of a crossing, one line each."""

    def total(row: Mapping[str, Any]) -> int:
        return (row.get("bytes") or 0) * (row.get("count") or 0)

    return [
        {
            "tensor": str(row.get("tensor") or row.get("op") or "tensor"),
            "size": f"{units.size(row.get('bytes'))} {units.TIMES} {units.count(row.get('count'))}",
            "site": str(row.get("site") or ""),
        }
        for row in sorted(rows, key=total, reverse=True)[:DETAILS_SHOWN]
    ]


def _is_selected(crossing: Crossing, chosen: Selection) -> bool:
    return (
        crossing.id == chosen.crossing
        or not chosen.hops.isdisjoint(crossing.hops)
        or (crossing.src_device, crossing.dst_device) == chosen.pair
    )


def _weight(count: int) -> float:
    """Where bytes stand between the thinnest and the widest line, 0 to 1 on a logarithmic scale.

    The scale is the same for every run, so that a line doesn't change when others come.
    """
    if count <= 0:
        return 0.0
    return round(min(1.0, max(0.0, (math.log10(count) - THINNEST) / (WIDEST - THINNEST))), 3)


def _causes(crossings: Sequence[Crossing]) -> list[dict[str, Any]]:
    number = Counter((crossing.cause, is_alert(crossing.severity)) for crossing in crossings)
    order = sorted(number.items(), key=lambda item: (not item[0][1], -item[1], item[0][0]))
    dashed = {crossing.cause for crossing in crossings if crossing.collective}
    return [
        {
            "cause": cause,
            "label": f"{cause} (info)" if not alert and (cause, True) in number else cause,
            "alert": alert,
            "number": much,
            "dashed": cause in dashed,
        }
        for (cause, alert), much in order
    ]


def _traces(diagram: Diagram) -> str:
    """How many of the graphs of one name are shown, where some are not: traces, replicas."""
    shown: Counter[str] = Counter()
    known: Counter[str] = Counter()
    for choice in diagram.graphs:
        known[choice.function or choice.name] += 1
        shown[choice.function or choice.name] += choice.id in diagram.drawn
    return ", ".join(
        f"{shown[name]} of {units.plural(every, 'graph')} of {name} shown"
        for name, every in known.items()
        if 0 < shown[name] < every
    )


def _title(diagram: Diagram) -> str:
    drawn = [choice for choice in diagram.graphs if choice.id in diagram.drawn]
    return " + ".join(graph_label(choice) for choice in drawn)


def graph_label(choice: GraphChoice) -> str:
    """A graph's name with what it weighs: ``train_step (61 ops, 300 calls)``."""
    ops = units.plural(choice.ops, "op")
    if choice.id == EAGER:
        return f"{choice.name} ({ops})"
    return f"{choice.name} ({ops}, {units.plural(choice.calls, 'call')})"


def _note(diagram: Diagram, left_out: int) -> str:
    parts = [diagram.truncated_note]
    if diagram.hidden and not diagram.truncated_note:
        parts.append(f"{units.plural(diagram.hidden, 'op')} not drawn.")
    if left_out:
        parts.append(f"{units.plural(left_out, 'crossing')} to groups that are not drawn.")
    if diagram.idle:
        parts.append(f"No op ran on {', '.join(diagram.idle)}.")
    parts += [
        f"{choice.name} is partial: {choice.partial}."
        for choice in diagram.graphs
        if choice.partial and choice.id in diagram.drawn
    ]
    return " ".join(part for part in parts if part)
