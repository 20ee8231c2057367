"""The rows of a run's tables: hops, waits, collectives, memory, ops of a group."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Self

from app.components.table.table import Column
from app.facts.collectives import Collective
from app.facts.memory import UNUSED, Memory
from app.facts.syncs import ALL_DEVICES, Idle, Sync
from app.facts.tables import Tables
from app.facts.transfers.hops import Hop
from app.reports.report_tables import copied
from app.views import units
from app.views.colors import is_alert, is_host
from app.views.naming import some_of
from app.views.placement_data import Group
from app.web.shared.devices import badges

HOP_COLUMNS = (
    Column("way", "From → to", "devices"),
    Column("tensor", "Tensor", "code"),
    Column("op", "For", "label", help="The type of the op that takes it"),
    Column("within", "In", "label", help="The graph that it happens in; eager: outside of any"),
    Column("bytes", "Each", "number", help="Bytes of one transfer, with what that rests on"),
    Column("count", "Count", "number", help="Transfers in the whole run"),
    Column("total", "Total", "number", help="Bytes in the whole run"),
    Column("site", "Line", "site", help="The line of the op that takes it"),
    Column("cause", "Cause", "badge"),
)
TIME_COLUMN = Column(
    "time",
    "Takes",
    "number",
    help="All of them, estimated from copies measured on the machine, the host's memory being pageable",
)
SYNC_COLUMNS = (
    Column("device", "Device", "devices"),
    Column("kind", "By", "text"),
    Column("site", "Line", "site"),
    Column("count", "Count", "number"),
    Column("wait", "Waited", "number", help="How long Python stood still in the whole run, copying included"),
    Column("copy", "Of it copying", "number", help="Taking the value when its device was done"),
    Column("each", "Each", "number", help="Waited for one, copying included"),
    Column("step", "A step", "number", help="Waited in each step, copying included; none: not every step"),
    Column("basis", "Basis", "text"),
    Column(
        "idle",
        "Idle meanwhile",
        "devices",
        help="Other devices that had nothing to do, for this part of it: inferred from what they were given",
    ),
)
COLLECTIVE_COLUMNS = (
    Column("op", "Collective", "text"),
    Column("devices", "Devices", "devices"),
    Column("algorithm", "Algorithm", "text"),
    Column("tensors", "Tensors", "number"),
    Column("payload", "Payload", "number", help="Bytes that each device contributes to one execution"),
    Column("wire", "On the wire", "number", help="Bytes that one execution moves between devices"),
    Column("count", "Count", "number"),
    Column("site", "Line", "site"),
    Column("basis", "Basis", "text"),
)
DEVICE_COLUMNS = (
    Column("device", "Device", "devices"),
    Column("ops", "Distinct ops", "number"),
    Column("peak", "Peak memory", "number"),
    Column("basis", "Basis", "text"),
    Column("why", "", "text"),
)
MEMBER_COLUMNS = (
    Column("name", "Op", "code"),
    Column("type", "Type", "text"),
    Column("requested", "Requested", "text"),
    Column("assigned", "Assigned", "devices"),
    Column("site", "Line", "site"),
)
_MOST_BADGES = 4
NOT_REQUESTED = "no device asked for"


def hop_columns(hops: Iterable[Hop]) -> tuple[Column, ...]:
    """The hop table's columns: with times where any is known."""
    if all(hop.seconds is None for hop in hops):
        return HOP_COLUMNS
    at = 1 + [column.name for column in HOP_COLUMNS].index("total")
    return (*HOP_COLUMNS[:at], TIME_COLUMN, *HOP_COLUMNS[at:])


def sync_columns(syncs: Collection[Sync]) -> tuple[Column, ...]:
    """The waits' columns: without those that no row would fill."""
    empty = {
        "step": all(sync.step_ns is None for sync in syncs),
        "idle": not any(sync.idle for sync in syncs),
    }
    return tuple(column for column in SYNC_COLUMNS if not empty.get(column.name))


class RunRows:
    """Makes rows of one run: every device in its own hue, stand-ins told apart."""

    def __init__(
        self,
        devices: Sequence[str],
        stand_ins: Collection[str] = (),
        functions: Mapping[int, str] | None = None,
    ) -> None:
        """`functions` are the names of the placed graphs."""
        self._functions = {**(functions or {}), 0: "eager"}
        self._badges = {badge["device"]: badge for badge in badges(devices, (), stand_ins)}

    @classmethod
    def of(cls, tables: Tables) -> Self:
        """Those of a run, in the hues of all its devices."""
        return cls(tables.devices, tables.stand_ins, {graph.id: graph.name for graph in tables.graphs})

    def badge(self, device: str, remark: bool = True) -> dict[str, str]:
        """A device's badge, with or without what it is."""
        known = self._badges.get(device) or {"device": device, "hue": "", "remark": ""}
        return known if remark else {**known, "remark": ""}

    def hops(self, hops: Sequence[Hop], shown: Collection[int] | None) -> list[dict[str, Any]]:
        """The hop table, or some rows of it, by bytes in the whole run, most first."""
        rows = [(row, hop) for row, hop in enumerate(hops) if shown is None or row in shown]
        rows.sort(key=lambda item: -(item[1].bytes_total or item[1].bytes or 0))
        return [self._hop(row, hop) for row, hop in rows]

    def _hop(self, row: int, hop: Hop) -> dict[str, Any]:
        ends = [self.badge(hop.src, False), self.badge(hop.dst, False)]
        shape = f"{hop.dtype}[{hop.shape.replace('x', ', ')}]" if hop.dtype else ""
        return {
            "id": str(row),
            "cells": {
                "way": {"devices": ends, "arrow": True, "remark": _memories(hop)},
                "tensor": {"text": hop.tensor or hop.producer or "?", "title": shape},
                "op": {"text": hop.op or hop.kind},
                "within": {"text": self._within(hop)},
                "bytes": _number(units.size(hop.bytes), hop.bytes, hop.basis),
                "count": _number(units.times(hop.count), hop.count),
                "total": _number(units.size(hop.bytes_total), hop.bytes_total),
                "time": _number(
                    "" if hop.seconds is None else units.estimated(hop.seconds_total),
                    hop.seconds_total,
                    "" if hop.seconds is None else "estimated",
                ),
                "site": {"text": hop.site or "?", "title": f"via {hop.via}" if hop.via else ""},
                "cause": {
                    "text": hop.code,
                    "tone": "alert" if is_alert(hop.severity) else "quiet",
                    "remark": "" if hop.code == hop.cause.code else f"by itself {hop.cause.code}",
                },
            },
        }

    def _within(self, hop: Hop) -> str:
        return ", ".join(dict.fromkeys(self._functions.get(graph, "?") for graph in hop.graphs))

    def syncs(self, syncs: Iterable[Sync]) -> list[dict[str, Any]]:
        """Where Python waited."""
        rows = []
        for index, sync in enumerate(syncs):
            wait = None if sync.stood_ns is None else sync.stood_ns / 1e9
            copy = None if sync.copy_ns is None else sync.copy_ns / 1e9
            each = sync.stood_ns / sync.count / 1e9 if sync.stood_ns is not None and sync.count else None
            cells = {
                "device": self._waited(sync),
                "kind": {"text": sync.kind},
                "site": {"text": sync.site or "?"},
                "count": _number(units.times(sync.count), sync.count),
                "wait": _number(units.duration(wait), wait),
                "copy": _number(copied(sync.wait_ns, sync.copy_ns), copy, _apart(sync)),
                "each": _number(units.duration(each), each),
                "step": _number(
                    "" if sync.step_ns is None else units.duration(sync.step_ns / 1e9), sync.step_ns
                ),
                "basis": {
                    "text": sync.basis,
                    "remark": "" if sync.timed is None else f"{units.count(sync.timed)} timed",
                },
                "idle": self._idle(sync.idle),
            }
            rows.append({"id": str(index), "cells": cells})
        return rows

    def _idle(self, idle: Sequence[Idle]) -> dict[str, Any]:
        """Badges of the devices that stood idle, with the smallest share of them."""
        if not idle:
            return {"devices": []}
        shown = self._several([one.device for one in idle])
        least = units.percent(min(one.share for one in idle))
        told = ", ".join(f"{one.device} {units.percent(one.share)}" for one in idle)
        remark = f"{shown.get('remark', '')} {least}".strip()
        return shown | {"remark": remark, "title": f"{told} (inferred)"}

    def _waited(self, sync: Sync) -> dict[str, Any]:
        """The badge of the device where the value lies, with the one that it waits for; '' are all."""
        if not sync.device:
            return {"devices": [], "remark": ALL_DEVICES}
        makers = some_of([sync.waits_for, *sync.waits_for_too], "devices")
        told = {"remark": f"waits for {makers}"} if sync.waits_for else {}
        return {"devices": [self.badge(sync.device)]} | told

    def collectives(self, collectives: Iterable[Collective]) -> list[dict[str, Any]]:
        """All-reduces and their kin."""
        rows = []
        for index, one in enumerate(collectives):
            cells = {
                "op": {"text": one.op},
                "devices": self._several(one.devices),
                "algorithm": {"text": one.algorithm},
                "tensors": _number(units.count(one.tensors), one.tensors),
                "payload": _number(units.size(one.payload_bytes), one.payload_bytes),
                "wire": _number(units.size(one.wire_bytes), one.wire_bytes),
                "count": _number(units.times(one.count), one.count),
                "site": {"text": one.site or "?"},
                "basis": {"text": one.basis},
            }
            rows.append({"id": str(index), "cells": cells})
        return rows

    def _several(self, devices: Sequence[str]) -> dict[str, Any]:
        """Badges of a few devices; of many only their number."""
        if len(devices) > _MOST_BADGES:
            return {
                "devices": [],
                "remark": units.plural(len(devices), "device"),
                "title": ", ".join(devices),
            }
        return {"devices": [self.badge(device, False) for device in devices]}

    def devices(self, ops: dict[str, int], memory: Iterable[Memory]) -> list[dict[str, Any]]:
        """Each device's ops and peak of memory."""
        return [
            {
                "id": row.device,
                "cells": {
                    "device": {"devices": [self.badge(row.device)]},
                    "ops": _number(units.count(ops.get(row.device, 0)), ops.get(row.device, 0)),
                    "peak": _peak(row),
                    "basis": {"text": row.basis},
                    "why": {"text": row.why},
                },
            }
            for row in memory
        ]

    def members(self, group: Group) -> list[dict[str, Any]]:
        """The ops of a group of the diagram."""
        return [
            {
                "id": str(member.id),
                "cells": {
                    "name": {"text": member.name},
                    "type": {"text": member.op},
                    "requested": {"text": member.requested or NOT_REQUESTED},
                    "assigned": {
                        "devices": [self.badge(member.assigned, False)],
                        "remark": "" if member.basis == "measured" else member.basis,
                    },
                    "site": {"text": member.site or "?"},
                },
            }
            for member in group.members
        ]


def _apart(sync: Sync) -> str:
    """What the split rests on, where that is less than what the whole rests on."""
    return sync.split_basis if sync.split_basis != sync.basis else ""


def _number(text: str, value: float | None, remark: str = "") -> dict[str, Any]:
    return {"text": text, "sort": -1 if value is None else value, "remark": remark}


def _peak(row: Memory) -> dict[str, Any]:
    if row.peak_bytes is None:
        if row.why == UNUSED:
            return {"text": "", "sort": -1, "remark": UNUSED}
        return {"text": "", "sort": -1, "remark": row.basis, "title": row.why}
    return {"text": units.size(row.peak_bytes), "sort": row.peak_bytes, "remark": row.basis, "title": row.why}


def _memories(hop: Hop) -> str:
    """Says which end is not in the memory that its device's name lets expect."""
    parts = []
    for word, device, memory in (("from", hop.src, hop.src_memory), ("to", hop.dst, hop.dst_memory)):
        if memory == "host" and not is_host(device) and not device.rpartition("/")[2].startswith("cpu:"):
            parts.append(f"{word} host memory")
    return ", ".join(parts)
