"""What the address has picked, told to every view in its own terms: one click filters all of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from app.facts.lines import Line
from app.facts.transfers.hops import Hop
from app.judgments.finding import Finding
from app.views.placement_data import Diagram, Group
from app.views.selection import Selection
from app.views.timeline_data import Lane
from app.web.shared.address import RunAddress


@dataclasses.dataclass(frozen=True)
class Focus:
    """What is picked, of one run at one moment."""

    label: str = ""
    """What the reader picked, in words; '' for nothing."""
    rows: frozenset[int] | None = None
    """Rows of the hop table that are shown; None for all."""
    selection: Selection = dataclasses.field(default_factory=Selection)
    devices: frozenset[str] = frozenset()
    """The devices that it is about; empty for all."""
    group: Group | None = None
    site: str = ""
    """The line of the source that it is about, ``train.py:31``; '' for none in particular."""

    def shows(self, lane: Lane) -> bool:
        """Whether a lane of the timeline has to do with it; calls always have."""
        if not self.devices or lane.device is None:
            return True
        if lane.kind == "hop" and len(self.devices) == 2:
            return all(device in lane.label.split(" → ") for device in self.devices)
        return lane.device in self.devices


def focus_of(
    address: RunAddress,
    hops: Sequence[Hop],
    diagram: Diagram,
    findings: Sequence[Finding],
    line_of: Callable[[str], Line | None] = lambda site: None,
) -> Focus:
    """What the address picks; nothing where it names what is not there (yet).

    `line_of` tells what a line of the source made the devices do, None for one that is not in the trace.
    """
    found = _filter(address, hops, diagram, findings, line_of)
    if address.hop is None or address.hop >= len(hops):
        return found
    hop = hops[address.hop]
    label = f"hop {address.hop}: {hop.tensor or hop.op}, {hop.src} → {hop.dst}"
    return dataclasses.replace(
        found,
        label=f"{found.label}; {label}" if found.label else label,
        selection=Selection(hops=frozenset({address.hop})),
        devices=frozenset({hop.src, hop.dst}),
    )


def _filter(
    address: RunAddress,
    hops: Sequence[Hop],
    diagram: Diagram,
    findings: Sequence[Finding],
    line_of: Callable[[str], Line | None],
) -> Focus:
    if address.pair:
        src, dst = address.pair
        rows = frozenset(row for row, hop in enumerate(hops) if (hop.src, hop.dst) == address.pair)
        return Focus(f"{src} → {dst}", rows, Selection(pair=address.pair), frozenset(address.pair))
    if address.crossing:
        crossing = next((one for one in diagram.crossings if one.id == address.crossing), None)
        if crossing:
            ends = crossing.src_device, crossing.dst_device
            picked = Selection(crossing=crossing.id)
            label = f"one crossing, {ends[0]} → {ends[1]}"
            return Focus(label, frozenset(crossing.hops), picked, frozenset(ends))
    if address.group:
        group = next((one for one in diagram.groups if one.id == address.group), None)
        if group:
            touching = [one for one in diagram.crossings if group.id in (one.src_group, one.dst_group)]
            rows = frozenset(row for crossing in touching for row in crossing.hops)
            label = f"{group.label or 'top level'} on {group.device}"
            return Focus(label, rows, Selection(group=group.id), frozenset({group.device}), group)
    if address.finding:
        finding = picked_finding(address.finding, findings)
        if finding:
            return _finding_focus(finding, hops)
    if address.line and (line := line_of(address.line)):
        touched = {end for row in line.hops for end in (hops[row].src, hops[row].dst)}
        touched |= {device for sync in line.syncs for device in sync.devices}
        devices = frozenset((*line.devices, *touched))
        selection = Selection(hops=line.hops)
        return Focus(f"line {address.line}", line.hops, selection, devices, site=address.line)
    return Focus()


def _finding_focus(finding: Finding, hops: Sequence[Hop]) -> Focus:
    label = finding.code + (f" at {finding.site}" if finding.site else "")
    if not finding.hops:  # of the rest of the page only its line has to do with it
        return Focus(label if finding.site else "", site=finding.site or "")
    rows = frozenset(finding.rows)
    devices = frozenset(end for row in rows for end in (hops[row].src, hops[row].dst))
    return Focus(label, rows, Selection(hops=rows), devices)


def picked_finding(wanted: str, findings: Sequence[Finding]) -> Finding | None:
    """The finding that an address means, by its id or by its name; None where there is none (yet)."""
    by_id = (one for one in findings if finding_id(one) == wanted)
    return next(by_id, None) or next((one for one in findings if finding_name(one) == wanted), None)


def finding_id(finding: Finding) -> str:
    """What it is called in an address, the finding's own while the run grows."""
    return f"{finding.code}:{finding.hops[0]}" if finding.hops else finding_name(finding)


def finding_name(finding: Finding) -> str:
    """What it is known by in an address and between runs: its code and line."""
    return f"{finding.code}@{finding.site or ''}"
