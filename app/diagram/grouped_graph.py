"""One graph, or the eager ops, grouped by name scope and device, few enough to be read."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from app.diagram.drawable_graph import Drawable, Reduction, Transfer
from app.diagram.flat_names import BACKWARD
from app.diagram.name_scopes import Cut, Item, Path, Series, choose_depth, find_series
from app.diagram.ranks import group_ranks, sequence_ranks
from app.facts.basis import total, weakest
from app.facts.groups import grouped
from app.facts.transfers.device_matrix import worst
from app.facts.transfers.hops import Hop
from app.judgments.severity import RANK
from app.views.placement_data import EAGER, Crossing, Group, Link

TARGET = 48
"""Groups that are aimed at: as many as have room for their names beside the matrix on a laptop's screen."""
MOST_GROUPS = 300
MOST_CROSSINGS = 150
MOST_MEMBERS = 50
MOST_TENSORS = 5
GRADIENT = "\N{NABLA}"
"""Stands before the name of what belongs to the backward pass of a graph without name scopes."""
TELLING = 3
"""Characters from which on a series' name says something by itself."""
_REST = "(others)"
_READ = "ReadVariableOp"


@dataclasses.dataclass
class _Cluster:
    """The ops of one group while it is being made."""

    path: Path
    device: str
    kind: str
    items: list[Item]
    nodes: list[int]
    fed_by: list[Item] = dataclasses.field(default_factory=list)
    """Constants and variables' reads that only feed its op."""
    rows: set[int] = dataclasses.field(default_factory=set)


class Grouped:
    """One drawable, grouped."""

    def __init__(
        self,
        drawable: Drawable,
        hops: Sequence[Hop],
        expanded: Collection[str],
        target: int,
        deepest: int | None = None,
    ) -> None:
        """About `target` groups, cut at most `deepest` scopes down."""
        self.drawable = drawable
        self.hops = hops
        prefix = drawable.id + "|"
        self.opened = {
            tuple(name.removeprefix(prefix).split("/")) for name in expanded if name.startswith(prefix)
        }
        self.depth, series = choose_depth(drawable.items, target)
        self.depth = min(self.depth, deepest or self.depth)
        if self.opened and not series:
            series = self._series_of_opened()
        self.notes: list[str] = []
        self._group(series)
        while len(self._pairs()) > MOST_CROSSINGS and self.depth > 1:
            self.depth -= 1
            self._group(series)
        self._limit()
        self.crossings = self._crossings()
        for transfer in drawable.transfers:
            if hops[transfer.row].count != 0:
                for node in (transfer.src, transfer.dst, *transfer.also):
                    self.clusters[self.group_of[node]].rows.add(transfer.row)

    def _group(self, series: Mapping[Path, Series]) -> None:
        cut = Cut(self.depth, series, self.opened)
        self.clusters: dict[str, _Cluster] = {}
        self.group_of: dict[int, str] = {}
        for item in self.drawable.items:
            self._add(cut.group(item.path), item.device, "scope", item.id, item)
        for kind, ends in (("input", self.drawable.inputs), ("output", self.drawable.outputs)):
            for node, device in ends.items():
                self._add((f"({kind}s)",), device, kind, node, None)
        self._take_in_feeders()

    def _take_in_feeders(self) -> None:
        """Constants and variables' reads that are drawn by themselves join the one op that they feed."""
        for feeder, fed in self.drawable.feeders().items():
            name, target = self.group_of[feeder], self.group_of.get(fed, "")
            if target not in self.clusters or target == name or len(self.clusters[name].items) > 1:
                continue
            cluster = self.clusters[target]
            if cluster.kind != "scope" or cluster.device != self.clusters[name].device:
                continue
            alone = self.clusters.pop(name)
            cluster.fed_by += alone.items
            cluster.nodes += alone.nodes
            self.group_of[feeder] = target

    def _series_of_opened(self) -> dict[Path, Series]:
        """Where nothing must be folded, an opened scope of very many blocks still folds its own."""
        return {
            path: series
            for path, series in find_series(self.drawable.items).items()
            if len(series.members) > TARGET // 2 and path[:-1] in self.opened
        }

    def _add(self, path: Path, device: str, kind: str, node: int, item: Item | None) -> None:
        name = f"{self.drawable.id}|{device}|{'/'.join(path)}"
        cluster = self.clusters.get(name)
        if cluster is None:
            cluster = self.clusters[name] = _Cluster(path, device, kind, [], [])
        cluster.nodes.append(node)
        if item is not None:
            cluster.items.append(item)
        self.group_of[node] = name

    def _limit(self) -> None:
        """Merge the smallest groups of each device where the scopes alone don't get few enough."""
        excess = len(self.clusters) - MOST_GROUPS
        if excess <= 0:
            return
        crossed = {name for pair in self._pairs() for name in pair}
        scopes = [name for name, cluster in self.clusters.items() if cluster.kind == "scope"]
        scopes.sort(key=lambda name: (name in crossed, len(self.clusters[name].items)))
        merged = 0
        for name in scopes[: excess + len({cluster.device for cluster in self.clusters.values()})]:
            cluster = self.clusters.pop(name)
            for item in (*cluster.items, *cluster.fed_by):
                self._add((_REST,), cluster.device, "scope", item.id, item)
            merged += 1
        self.notes.append(f"{merged} small groups are drawn as one a device, {_REST}")

    def _pairs(self) -> dict[tuple[str, str], list[Transfer]]:
        return grouped(
            ((self.group_of[transfer.src], self.group_of[transfer.dst]), transfer)
            for transfer in self.drawable.transfers
            if self.hops[transfer.row].count != 0
        )

    def _crossings(self) -> list[Crossing]:
        crossings = [self._crossing(pair, transfers) for pair, transfers in self._pairs().items()]
        crossings.sort(key=lambda crossing: (RANK.get(crossing.severity, 9), -crossing.bytes_known))
        if len(crossings) > MOST_CROSSINGS:
            left = len(crossings) - MOST_CROSSINGS
            self.notes.append(f"{left} more crossings, of fewer bytes, are not drawn")
        return crossings[:MOST_CROSSINGS]

    def _crossing(self, pair: tuple[str, str], transfers: Sequence[Transfer]) -> Crossing:
        part = [self.hops[transfer.row] for transfer in transfers]
        moved = [
            None if hop.bytes is None or transfer.count is None else hop.bytes * transfer.count
            for hop, transfer in zip(part, transfers, strict=True)
        ]
        worst_hop = min(part, key=lambda hop: RANK.get(hop.severity, 9))
        by_size = sorted(part, key=lambda hop: -(hop.bytes or 0))
        return Crossing(
            id=f"{pair[0]}>{pair[1]}",
            src_group=pair[0],
            dst_group=pair[1],
            src_device=part[0].src,
            dst_device=part[0].dst,
            bytes_total=total(moved),
            count=total(transfer.count for transfer in transfers),
            hops=tuple(dict.fromkeys(transfer.row for transfer in transfers)),
            cause=worst_hop.code,
            severity=worst(part),
            tensors=tuple(dict.fromkeys(hop.tensor for hop in by_size))[:MOST_TENSORS],
            bytes_known=sum(size or 0 for size in moved),
            basis=weakest(hop.basis for hop in part),
        )

    def ends(self) -> list[tuple[Reduction, dict[str, str]]]:
        """Each collective, and on each device that takes part here the group that holds most of its ops."""
        return [
            (
                reduction,
                {
                    device: Counter(self.group_of[node] for node in nodes).most_common(1)[0][0]
                    for device, nodes in reduction.nodes.items()
                },
            )
            for reduction in self.drawable.collectives
        ]

    def dependencies(self) -> Counter[tuple[str, str]]:
        """(group, group that takes from it) -> number of edges."""
        numbers: Counter[tuple[str, str]] = Counter()
        for src, dst in self.drawable.edges:
            if src in self.group_of and dst in self.group_of:
                numbers[(self.group_of[src], self.group_of[dst])] += 1
        return numbers

    def links(self) -> list[Link]:
        """Dependencies between groups that stay on one device."""
        return [
            Link(src, dst, number)
            for (src, dst), number in self.dependencies().items()
            if src != dst and self.clusters[src].device == self.clusters[dst].device
        ]

    def groups(self) -> list[Group]:
        """The groups with their ranks."""
        edges = [*self.dependencies(), *((one.src_group, one.dst_group) for one in self.crossings)]
        nodes = {name: cluster.nodes for name, cluster in self.clusters.items()}
        if self.drawable.id == EAGER:
            ranks = sequence_ranks(nodes, self.drawable.rank, {n: c.device for n, c in self.clusters.items()})
        else:
            ranks = group_ranks(nodes, self.drawable.rank, edges)
        devices: dict[Path, Counter[str]] = {}
        for cluster in self.clusters.values():
            devices.setdefault(cluster.path, Counter())[cluster.device] += len(cluster.items) + len(
                cluster.fed_by
            )
        return [
            self._drawn(name, cluster, ranks[name], devices[cluster.path])
            for name, cluster in self.clusters.items()
        ]

    def names_in(self, group: Group) -> set[tuple[str, str]]:
        """What tells a group's ops apart, the same for an op that several replicas of a function share."""
        if self.drawable.id == EAGER:
            return {(EAGER, str(number)) for number in group.member_ids}
        members = self.drawable.members
        return {(self.drawable.name, members[number].name) for number in group.member_ids}

    def _drawn(self, name: str, cluster: _Cluster, rank: int, devices: Counter[str]) -> Group:
        members = [
            self.drawable.members[item.id]
            for item in (*cluster.items, *cluster.fed_by)
            if item.id in self.drawable.members
        ]
        sites = Counter(member.site for member in members if member.site)
        label, kind, series = self._named(cluster)
        deeper = any(len(item.path) > len(cluster.path) for item in cluster.items)
        expandable = len(cluster.items) > 1 and (deeper or kind == "series") and cluster.path != (_REST,)
        return Group(
            id=name,
            label=label,
            scope="/".join(cluster.path),
            device=cluster.device,
            ops=len(members),
            op_histogram=tuple(Counter(member.op for member in members).most_common()),
            rank=rank,
            hops=len(cluster.rows),
            expandable=expandable,
            expanded=False,
            kind=kind,
            site=sites.most_common(1)[0][0] if sites else None,
            members=tuple(members[:MOST_MEMBERS]),
            member_ids=tuple(member.id for member in members),
            device_histogram=tuple((device, n) for device, n in devices.most_common() if n),
            series=series,
            graph=self.drawable.id,
            expand=f"{self.drawable.id}|{'/'.join(cluster.path)}" if expandable else "",
        )

    def _named(self, cluster: _Cluster) -> tuple[str, str, tuple[str, ...]]:
        """(label, kind, members of the series)."""
        if cluster.kind != "scope":
            python = self.drawable.id == EAGER
            words = {
                "input": "Python data" if python else "arguments",
                "output": "Python" if python else "results",
            }
            return words[cluster.kind], cluster.kind, ()
        depth = len(cluster.path)
        last = cluster.path[-1] if cluster.path else ""
        back = GRADIENT if cluster.path[:1] == (BACKWARD,) and depth > 1 else ""
        if len(cluster.items) == 1:
            only = cluster.items[0]
            # The op that the scope is named after may run elsewhere, and only its variable be read here.
            read = "for " if only.op == _READ and not last.startswith((_READ, "_")) else ""
            return back + read + (only.op if last.startswith("_") else last), "op", ()
        blocks = tuple(dict.fromkeys("/".join(item.path[:depth]) for item in cluster.items))
        if len(blocks) == 1 or last == _REST:
            return back + last, "scope", ()
        stem, bracket, _ = last.rpartition("_[")
        if bracket and len(stem) < TELLING and depth > 1:
            stem = cluster.path[-2]  # of a layer's time steps, t0 to t7, the layer says more
        folded = f"{back}{stem if bracket else last} \N{MULTIPLICATION SIGN}{len(blocks)}"
        return folded, "series" if bracket else "scope", blocks
