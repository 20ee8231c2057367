"""The placement diagram's content: which graphs are drawn, how deep each is cut, and all of them as one."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from app.diagram.drawable_graph import Drawable, Reduction, of_eager, of_graph
from app.diagram.grouped_graph import MOST_CROSSINGS, TARGET, Grouped
from app.facts.devices import in_order, is_host
from app.facts.groups import grouped
from app.facts.placement import BOUNDARY
from app.facts.tables import Tables
from app.facts.transfers import wire
from app.facts.transfers.hops import Hop
from app.views.placement_data import EAGER, Crossing, Diagram, GraphChoice, Group, Lane

NEARLY_ALL = 0.9
MOST_COLUMNS = 16
"""Columns of several graphs side by side that still have room for their names."""
MOST_REPLICAS = 8
"""Drawn above one another by default."""


def graph_choices(tables: Tables) -> list[GraphChoice]:
    """All that can be drawn, what executed most ops first."""
    names: Counter[str] = Counter()
    choices = []
    tasks = _tasks(tables)
    for graph in tables.own_graphs:
        names[graph.name] += 1
        again = f" ({names[graph.name]})" if names[graph.name] > 1 else ""
        if task := tasks.get(graph.id):
            again = f" · {task}"
        ops = sum(node.op not in BOUNDARY for node in tables.nodes_of(graph.id))
        name = graph.name + again
        choices.append(GraphChoice(str(graph.id), name, ops, graph.calls, graph.partial, graph.name))
    executed = {choice.id: choice.ops * choice.calls for choice in choices}
    eager = tables.eager_ops
    if eager:
        executed[EAGER] = sum(key.count or 0 for key in eager)
        choices.append(GraphChoice(EAGER, "eager ops", len(eager), executed[EAGER]))
    choices.sort(key=lambda choice: -executed[choice.id])
    return choices


def _tasks(tables: Tables) -> dict[int, str]:
    """Graph -> the process on whose devices it runs, where that tells the graphs of a name apart."""
    found: dict[str, dict[int, str]] = {}
    for graph in tables.own_graphs:
        devices = _devices_of(tables, graph.id)
        # A parameter server's host takes part in the graph of each worker.
        own = {device for device in devices if not is_host(device)} or devices
        roles = {device.rpartition("/")[0] for device in own}
        found.setdefault(graph.name, {})[graph.id] = roles.pop() if len(roles) == 1 else ""
    return {
        graph: task
        for tasks in found.values()
        if len(tasks) > 1 and len(set(tasks.values())) == len(tasks)
        for graph, task in tasks.items()
    }


def placement_diagram(
    tables: Tables,
    hops: Sequence[Hop],
    graphs: Collection[str] | None = None,
    expanded: Collection[str] = (),
) -> Diagram:
    """The diagram of some graphs (ids of `graph_choices`), in at most about 300 groups.

    By default those that executed nearly all of the ops, or of large ones the first. `expanded` holds the
    `expand` of groups that were opened.
    """
    choices = graph_choices(tables)
    known = {choice.id for choice in choices}
    wanted = [name for name in graphs or () if name in known] or _weightiest(tables, choices)
    by_id = {str(graph.id): graph for graph in tables.own_graphs}
    drawables = [
        of_eager(tables, hops) if name == EAGER else of_graph(tables, by_id[name], hops) for name in wanted
    ]
    share = max(1, TARGET // max(1, len({drawable.name for drawable in drawables})))
    depths = _depths(drawables, hops, share) if len(drawables) > 1 else {}
    parts = [Grouped(one, hops, expanded, share, depths.get(one.name)) for one in drawables]
    return _joined(tables, parts, choices, wanted)


def _depths(drawables: Sequence[Drawable], hops: Sequence[Hop], share: int) -> dict[str, int]:
    """How deep each of several drawables is cut, by its name: so that their columns have room side by side.

    Replicas, which are drawn above one another, are cut alike, and share one room of `share` groups.
    """
    by_name = grouped((drawable.name, drawable) for drawable in drawables)
    columns: dict[str, int] = {}
    depths: dict[str, int] = {}

    def cut(name: str, deepest: int | None) -> None:
        parts = [Grouped(one, hops, (), share, deepest) for one in by_name[name]]
        depths[name] = min(part.depth for part in parts)
        columns[name] = max((1 + group.rank for part in parts for group in part.groups()), default=0)

    for name in by_name:
        cut(name, None)
    while sum(columns.values()) > MOST_COLUMNS:
        wide = [name for name in by_name if depths[name] > 1]
        if not wide:
            break
        widest = max(wide, key=lambda name: columns[name])
        cut(widest, depths[widest] - 1)
    return depths


def _weightiest(tables: Tables, choices: Sequence[GraphChoice]) -> list[str]:
    """Ids of what executed nine tenths of the ops, as many as can be read in one drawing; at least one.

    What holds a backward pass comes first: a short run's set-up may have executed more ops than its steps.
    Of the graphs of one name only those with a device of their own: replicas, which are drawn above one
    another, and so share one room.
    """
    executed = {choice.id: choice.calls * (1 if choice.id == EAGER else choice.ops) for choice in choices}
    enough = NEARLY_ALL * sum(executed.values())
    done, ops = 0, 0
    chosen: list[str] = []
    names: set[str] = set()
    for choice in sorted(choices, key=lambda choice: not _trains(tables, choice)):
        if chosen and (done >= enough or ops + choice.ops > 2 * TARGET):
            break
        name = choice.function or choice.name
        if name in names:
            continue
        names.add(name)
        ops += choice.ops
        done += sum(executed[one.id] for one in choices if (one.function or one.name) == name)
        chosen += [choice.id] if choice.id == EAGER else _replicas(tables, choices, choice)
    return chosen


def _trains(tables: Tables, choice: GraphChoice) -> bool:
    """Whether ops of a backward pass are in it."""
    if choice.id == EAGER:
        return any(key.fields.get("forward_loc") for key in tables.eager_ops)
    return any(node.forward_loc for node in tables.nodes_of(int(choice.id)))


def _replicas(tables: Tables, choices: Sequence[GraphChoice], like: GraphChoice) -> list[str]:
    """The graphs of one name, each with devices that those before it have not; in the devices' order."""
    taken: set[str] = set()
    found: dict[str, list[int]] = {}
    place = {device: index for index, device in enumerate(tables.devices)}
    for choice in choices:
        if choice.id == EAGER or choice.function != like.function:
            continue
        devices = _devices_of(tables, int(choice.id))
        if len(found) < MOST_REPLICAS and not devices <= taken:
            taken |= devices
            found[choice.id] = sorted(place.get(device, len(place)) for device in devices)
    return sorted(found, key=found.__getitem__) or [like.id]


def _devices_of(tables: Tables, graph: int) -> set[str]:
    return {node.assigned for node in tables.nodes_of(graph) if node.op not in BOUNDARY}


def _joined(
    tables: Tables, parts: Sequence[Grouped], choices: Sequence[GraphChoice], drawn: Sequence[str]
) -> Diagram:
    """One diagram of all parts, one beside the other; replicas of a graph above one another."""
    groups: list[Group] = []
    distinct: dict[str, set[tuple[str, str]]] = {}
    offset = 0
    starts: dict[str, tuple[int, set[str]]] = {}
    for part in parts:
        made = part.groups()
        devices = {group.device for group in made}
        start, taken = starts.get(part.drawable.name, (offset, set()))
        # Workers share their parameter servers' hosts; what shares more is another trace of the same.
        if devices <= taken or not all(map(is_host, devices & taken)):
            start, taken = offset, set()
        starts[part.drawable.name] = start, taken | devices
        groups += [dataclasses.replace(group, rank=group.rank + start) for group in made]
        for group in made:
            distinct.setdefault(group.device, set()).update(part.names_in(group))
        offset = max(offset, start + 1 + max((group.rank for group in made), default=-1))
    # Collectives are few, and there is no row in the hop table that would show them.
    collectives = collective_crossings(end for part in parts for end in part.ends())[:MOST_CROSSINGS]
    room = MOST_CROSSINGS - len(collectives)
    crossings = [*[crossing for part in parts for crossing in part.crossings][:room], *collectives]
    notes = [note for part in parts for note in part.notes]
    return Diagram(
        lanes=tuple(_lanes(tables, groups, {device: len(ops) for device, ops in distinct.items()})),
        groups=tuple(groups),
        crossings=tuple(crossings),
        depth=max((part.depth for part in parts), default=0),
        hidden=0,
        truncated_note=("; ".join(notes) + ".") if notes else "",
        links=tuple(link for part in parts for link in part.links()),
        ranks=max(offset, 1),
        graphs=tuple(choices),
        drawn=tuple(drawn),
        idle=_idle(tables) if groups else (),
    )


def collective_crossings(ends: Iterable[tuple[Reduction, Mapping[str, str]]]) -> list[Crossing]:
    """Arrows from each device's group to that of the next, in the order in which the algorithm goes.

    `ends`: collectives with the group on each device; those of one collective are put together.
    """
    groups: dict[tuple[int, ...], tuple[Reduction, dict[str, str]]] = {}
    for reduction, at in ends:
        identity = tuple(key.id for key in reduction.joint.keys)
        groups.setdefault(identity, (reduction, {}))[1].update(at)
    return [
        crossing
        for number, (reduction, at) in enumerate(groups.values())
        for crossing in _arrows(number, reduction, at)
    ]


def _arrows(number: int, reduction: Reduction, at: Mapping[str, str]) -> list[Crossing]:
    joint = reduction.joint
    fields, count = joint.keys[0].fields, joint.count
    algorithm = fields.get("algorithm") or "unknown"
    parts = wire.shares(joint.devices, fields.get("wire_bytes"), algorithm)
    moved = {pair: None if part is None or count is None else part * count for pair, part in parts.items()}
    return [
        Crossing(
            id=f"{at[src]}>{at[dst]}|collective {number}",
            src_group=at[src],
            dst_group=at[dst],
            src_device=src,
            dst_device=dst,
            bytes_total=size,
            count=count,
            hops=(),
            cause="collective",
            severity="info",
            tensors=(),
            bytes_known=size or 0,
            basis=fields.get("basis") or "unknown",
            collective=f"{wire.kind(fields['op'])} · {algorithm}",
            payload=fields.get("payload_bytes"),
            site=reduction.site,
        )
        for (src, dst), size in moved.items()
        if src in at and dst in at
    ]


def _lanes(tables: Tables, groups: Sequence[Group], distinct: Mapping[str, int]) -> Iterable[Lane]:
    of_device: dict[str, list[Group]] = {device: [] for device in tables.devices}
    for group in groups:
        of_device.setdefault(group.device, []).append(group)
    several = sum(is_host(device) for device in of_device) > 1
    busy = _busy(tables)
    for device in in_order(of_device, host_last=True):
        if not of_device[device] and (device not in busy or (several and is_host(device))):
            continue  # nothing ran there, or it is a process that only directs the others
        rows = sorted(of_device[device], key=lambda group: (group.rank, group.id))
        stand_in = device in tables.stand_ins and not is_host(device)
        ops = distinct.get(device, 0)
        yield Lane(device, stand_in, tuple(group.id for group in rows), ops, not ops and device in busy)


def _busy(tables: Tables) -> set[str]:
    """The devices that ran an op at all."""
    found = {str(key.fields.get("device") or "") for key in tables.eager_ops}
    return found.union(*(_devices_of(tables, graph.id) for graph in tables.own_graphs))


def _idle(tables: Tables) -> tuple[str, ...]:
    """Devices that ran nothing; not the hosts, of which some only direct the others."""
    busy = _busy(tables)
    return tuple(device for device in tables.devices if device not in busy and not is_host(device))
