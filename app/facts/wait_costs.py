"""What a standstill is made of: waiting and copying, its part of a step, and which devices stood idle.

MXNet's recorder times waiting and copying apart. TensorFlow copies within the one call that waits, so
there the copying is estimated: between cards and the host from the machine's measured copies, in the
host's own memory from a copy that the recorder timed when the process started.

Which devices stood idle is inferred from what they were given: while Python stands still it gives out
nothing, so a device that got no work since Python last waited for it has none.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from app.facts.basis import total
from app.facts.devices import is_gpu, is_host
from app.facts.syncs import Idle, Sync
from app.facts.tables import Tables
from app.facts.transfers.hops import Hop
from probes.trace.rows import Key

_MOST_EVENTS = 40_000
"""Of the run's first events that are looked at; what recurs has few events of its own anyhow."""
_KINDS = ("op", "call", "hop", "sync")


def with_stalls(syncs: Iterable[Sync], tables: Tables, hops: Sequence[Hop]) -> list[Sync]:
    """The syncs with the copying of each where it can be told, its part of a step, and who stood idle."""
    rows = list(syncs)
    idle = _idle(tables) if any(sync.wait_ns for sync in rows) else {}
    speed = _host_copy_ns_a_byte(tables)
    return [
        dataclasses.replace(
            _split(sync, hops, speed),
            step_ns=_a_step(sync, tables.rounds),
            idle=idle.get((sync.waited_for, sync.kind, sync.site), ()),
        )
        for sync in rows
    ]


def _a_step(sync: Sync, rounds: int) -> int | None:
    """Standing still in each step; None for a wait that is not of every step."""
    if sync.stood_ns is None or rounds < 2:
        return None
    rounds = sync.own.rounds if sync.own else rounds
    if not (sync.count >= rounds if sync.each is None else sync.each):
        return None
    return round(sync.stood_ns / rounds)


def _split(sync: Sync, hops: Sequence[Hop], speed: float | None) -> Sync:
    if sync.copy_ns is not None or sync.stood_ns is None:
        return sync
    copying = _copying_ns(sync, hops, speed)
    if copying is None:
        return sync
    copying = min(round(copying), sync.stood_ns)
    return dataclasses.replace(
        sync, wait_ns=sync.stood_ns - copying, copy_ns=copying, split_basis="estimated"
    )


def _copying_ns(sync: Sync, hops: Sequence[Hop], speed: float | None) -> float | None:
    if sync.waits_for:
        return None  # it lies in the host's memory already
    if not is_gpu(sync.device):
        return None if speed is None or sync.bytes_total is None else sync.bytes_total * speed
    way = "pull", sync.device, sync.site
    pulls = [hop for hop in hops if (hop.kind, hop.src, hop.site) == way and sync.kind in hop.consumers]
    taken = total(hop.seconds_total for hop in pulls)
    return taken * 1e9 if pulls and taken is not None else None


def _host_copy_ns_a_byte(tables: Tables) -> float | None:
    """As the recorder measured it when a process started; None where none did."""
    for process in tables.processes:
        told = process.header.get("host_copy")
        if isinstance(told, Mapping):
            size, taken = told.get("bytes"), told.get("ns")
            if isinstance(size, int) and isinstance(taken, int) and size > 0 and taken > 0:
                return taken / size
    return None


def _idle(tables: Tables) -> dict[tuple[str, str, str | None], tuple[Idle, ...]]:
    """Share of the looked-at standstill during which each other device had nothing to do, by sync row.

    A device that the program gives nothing at all misses nothing.
    """
    keys = {key.id: key for key in tables.keys if key.kind in _KINDS}
    placed: dict[int, frozenset[str]] = {}
    devices = [device for device in tables.devices if not is_host(device)]
    busy: set[str] = set()
    used: set[str] = set()
    stood: Counter[tuple[str, str, str | None]] = Counter()
    nothing: dict[tuple[str, str, str | None], Counter[str]] = {}
    for number, dur in tables.first_events(_KINDS, _MOST_EVENTS):
        key = keys.get(number)
        if key is None:
            continue
        if key.kind != "sync":
            given = frozenset(_given(key, tables, placed))
            busy |= given
            used |= given
            continue
        device = str(key.fields.get("device") or "")
        row = device, str(key.fields.get("kind") or ""), tables.site(key.fields.get("loc"))
        stood[row] += dur
        for other in devices:
            if dur and other != device and device and other not in busy:
                nothing.setdefault(row, Counter())[other] += dur
        busy = busy - {device} if device else set()
    return {
        row: tuple(Idle(device, taken / stood[row]) for device, taken in shares.items() if device in used)
        for row, shares in nothing.items()
    }


def _given(key: Key, tables: Tables, placed: dict[int, frozenset[str]]) -> Iterable[str]:
    fields = key.fields
    if key.kind == "op":
        return (str(fields.get("device") or ""),)
    if key.kind == "hop":
        # What Python took it has waited for.
        return () if fields.get("kind") == "pull" else (str(fields.get("src")), str(fields.get("dst")))
    graph = fields.get("graph") or 0
    if graph not in placed:
        placed[graph] = frozenset(node.assigned for node in tables.nodes_of(graph)) if graph else frozenset()
    return placed[graph] or tables.devices
