"""Positions in execution order: longest paths, in time linear in nodes and edges."""

from __future__ import annotations

import statistics
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

Item = TypeVar("Item", bound=Hashable)


def longest_paths(items: Sequence[Item], edges: Iterable[tuple[Item, Item]]) -> dict[Item, int]:
    """Length of the longest path to each item, 0 for those without a producer.

    Edges that close a cycle (a loop's back edges) are left out: when nothing is free of producers any
    more, the first waiting item in the order of `items` goes ahead.
    """
    consumers: dict[Item, list[Item]] = {item: [] for item in items}
    waiting = dict.fromkeys(items, 0)
    for src, dst in edges:
        if src != dst and src in consumers and dst in waiting:
            consumers[src].append(dst)
            waiting[dst] += 1
    rank = dict.fromkeys(items, 0)
    ready = [item for item in items if waiting[item] == 0]
    done: set[Item] = set()
    held_up = iter(items)
    while len(done) < len(rank):
        if not ready:
            ready.append(next(item for item in held_up if item not in done))
        item = ready.pop()
        if item in done:
            continue
        done.add(item)
        following = rank[item] + 1
        for consumer in consumers[item]:
            if consumer not in done:
                rank[consumer] = max(rank[consumer], following)
                waiting[consumer] -= 1
                if waiting[consumer] == 0:
                    ready.append(consumer)
    return rank


def group_ranks(
    groups: Mapping[str, Sequence[int]], node_rank: Mapping[int, int], edges: Iterable[tuple[str, str]]
) -> dict[str, int]:
    """Rank of each group of nodes, from the group edges that run with the nodes' own order.

    Groups may depend on each other both ways; the direction that agrees with their middle nodes counts
    (a constant makes the first node of many a late group an early one).
    """
    middle = {
        name: statistics.median_high([node_rank.get(node, 0) for node in nodes] or [0])
        for name, nodes in groups.items()
    }
    order = sorted(groups, key=lambda name: (middle[name], name))
    position = {name: number for number, name in enumerate(order)}
    forward = {
        (src, dst)
        for src, dst in edges
        if src in position and dst in position and position[src] < position[dst]
    }
    return longest_paths(order, forward)


ABREAST = 4
"""Groups of one moment that stand above each other before the next column begins."""


def sequence_ranks(
    groups: Mapping[str, Sequence[int]], node_rank: Mapping[int, int], lane_of: Mapping[str, str]
) -> dict[str, int]:
    """Ranks of groups of which only the order of their moments is known, not what depends on what.

    `node_rank` is the moment of each node; groups of one moment share columns, at most ABREAST a lane.
    """
    moments: dict[int, list[str]] = {}
    for name, nodes in groups.items():
        moments.setdefault(min((node_rank.get(node, 0) for node in nodes), default=0), []).append(name)
    ranks: dict[str, int] = {}
    column = 0
    for moment in sorted(moments):
        in_lane: dict[str, int] = {}
        for name in moments[moment]:
            place = in_lane.get(lane_of[name], 0)
            in_lane[lane_of[name]] = place + 1
            ranks[name] = column + place // ABREAST
        column = 1 + max(ranks[name] for name in moments[moment])
    return ranks
