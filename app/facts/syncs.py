"""Where Python waited for, or took, a device's value, by line."""

from __future__ import annotations

import dataclasses
import functools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from app.facts.basis import total
from app.facts.devices import in_order, is_gpu, is_host
from app.facts.frequency.loops import KINDS
from app.facts.frequency.recurrence import Own
from app.facts.groups import summed
from app.facts.tables import Tables
from app.facts.transfers.hops import Hop
from app.views.naming import some_of
from probes.trace.rows import Key

ALL_DEVICES = "all devices"
_Identity = tuple[str, str, str | None, str]
"""Device, kind, line, and the device that a value of the host waits for."""


@dataclasses.dataclass(frozen=True)
class Idle:
    """Another device that had nothing to do during standstills."""

    device: str
    share: float
    """Of the standstill, 0 to 1; inferred from what it was given."""


@dataclasses.dataclass(frozen=True)
class Sync:
    """All syncs of one kind on one device at one line."""

    device: str
    """Where the value lies that Python took; '' for a wait for all devices."""
    kind: str
    site: str | None
    count: int
    wait_ns: int | None
    """How long Python waited for the device to be done, all in all; None when no execution was timed.

    Where copying can't be told from waiting, it is all the time that Python stood still."""
    copy_ns: int | None
    """How long it copied the value after that; None where it can't be told from waiting."""
    basis: str
    """measured; estimated when only some of the executions were timed."""
    takes: bool = True
    """Python took the value; else it only waited."""
    split_basis: str = ""
    """What telling copying from waiting rests on; '' where they can't be told apart."""
    bytes_total: int | None = None
    """Bytes that Python took; None when a part of it is not known."""
    step_ns: int | None = None
    """Standing still in each step; None when it does not wait every step, or that is not known."""
    idle: tuple[Idle, ...] = ()
    """Other devices that had nothing to do meanwhile; inferred."""
    each: float | None = None
    """How often in every step (or call), 0 for less; None where only the count tells."""
    own: Own | None = None
    """Its own loop, which `each` is of where it is not of every step or call of the run."""
    brought_at: tuple[str, ...] = ()
    """Lines that copied to the host what is taken there and waited for: its device had yet to make it."""
    waits_for: str = ""
    """The device that had yet to make what was copied to the host; '' where that is `device` itself."""
    waits_for_too: tuple[str, ...] = ()
    """The devices of what that was put together with on the host."""
    timed: int | None = None
    """How often it was timed, where that is not every time: the others are taken to be alike."""
    via: tuple[str | None, ...] = ()
    """The libraries' functions that the line calls for it."""
    keys: tuple[int, ...] = ()

    @property
    def waited_for(self) -> str:
        """The device that Python waited for, '' for all."""
        return self.waits_for or self.device

    @property
    def devices(self) -> tuple[str, ...]:
        """Where the value lies and what it waits for; none for a wait for all."""
        return tuple(dict.fromkeys(filter(None, (self.device, self.waits_for, *self.waits_for_too))))

    @property
    def source(self) -> str:
        """The device for people: a wait may be for all of them, and a value of the host for another one."""
        return shown(self.device, self.waits_for, self.waits_for_too)

    @property
    def stood_ns(self) -> int | None:
        """How long Python stood still, waiting and copying; None when no execution was timed."""
        return None if self.wait_ns is None else self.wait_ns + (self.copy_ns or 0)

    def row(self) -> dict[str, Any]:
        """The row as the report has it."""
        row = dataclasses.asdict(self)
        del row["takes"], row["bytes_total"], row["each"], row["own"], row["via"], row["keys"]
        row["brought_at"], row["waits_for_too"] = list(self.brought_at), list(self.waits_for_too)
        row["idle"] = [{"device": one.device, "share": round(one.share, 3)} for one in self.idle]
        return row


def shown(device: str, waits_for: str, too: Sequence[str] = ()) -> str:
    """``cpu:0, which waits for cpu:2``: where a value lies, '' for all devices, and what it waits for."""
    if not waits_for:
        return device or ALL_DEVICES
    return f"{device}, which waits for {some_of(in_order([waits_for, *too]), 'devices')}"


def sync_table(tables: Tables) -> list[Sync]:
    """One row a device, kind and line, the longest standstill first."""
    groups: dict[_Identity, list[Key]] = {}
    brought: dict[_Identity, dict[str, None]] = {}
    too: dict[_Identity, dict[str, None]] = {}
    copied = _copied_to_host(tables)
    for key in tables.of_kind("sync"):
        fields = key.fields
        origin = fields.get("copied_from") or "", fields.get("copy_loc") or 0
        # What was copied to the host for each time it is taken there waits for the device it came from.
        waits_for = origin[0] if key.count and copied.get(origin, 0) >= key.count else ""
        device, kind = fields.get("device") or "", fields.get("kind") or ""
        identity = (device, kind, tables.site(fields.get("loc")), waits_for if waits_for != device else "")
        groups.setdefault(identity, []).append(key)
        if identity[-1] and (line := tables.site(origin[1])):
            brought.setdefault(identity, {})[line] = None
            too.setdefault(identity, {}).update(dict.fromkeys(fields.get("copied_from_too") or ()))
    rows = [
        dataclasses.replace(
            _sync(tables, identity, keys),
            brought_at=tuple(brought.get(identity, ())),
            waits_for_too=tuple(one for one in too.get(identity, ()) if one != identity[-1]),
        )
        for identity, keys in groups.items()
    ]
    return sorted(rows, key=lambda row: (-(row.stood_ns or 0), -row.count, row.site or "", row.kind))


def _copied_to_host(tables: Tables) -> dict[tuple[str, int], int]:
    """(device, location) -> how often something was copied there from the device to the host."""
    copies = [key for key in tables.of_kind("hop") if key.fields.get("kind") == "copy"]
    return summed(
        ((key.fields.get("src") or "", key.fields.get("loc") or 0), key.count)
        for key in copies
        if is_host(key.fields.get("dst") or "")
    )


def _sync(tables: Tables, identity: _Identity, keys: list[Key]) -> Sync:
    device, kind, site, waits_for = identity
    times = [_Time.of(tables, key) for key in keys]
    known = [time for time in times if time.stood is not None]
    stated = {key.fields.get("basis") or "measured" for key in keys}
    basis = stated.pop() if len(stated) == 1 else "estimated"
    if not all(time.whole for time in times):
        basis = "estimated"
    if any(tables.is_sampled(key) for key in keys):
        basis = "sampled"
    count = sum(key.count or 0 for key in keys)
    ids = [key.id for key in keys]
    each, own = tables.each(ids, count), tables.own(ids, count)
    takes = any(key.fields.get("bytes") != 0 for key in keys)
    taken = total(_bytes(key) for key in keys)
    row = Sync(device, kind, site, count, None, None, "unknown", takes, bytes_total=taken, each=each, own=own)
    via = tuple(dict.fromkeys(tables.via(key.fields.get("loc")) for key in keys))
    row = dataclasses.replace(row, waits_for=waits_for, via=via, keys=tuple(ids))
    if not known:
        return row
    stood = sum(time.stood or 0 for time in known)
    copied = total(time.copied for time in known)
    split = "" if copied is None else basis
    waited = stood - (copied or 0)
    timed = None if all(time.whole for time in times) else sum(time.timed for time in times)
    return dataclasses.replace(
        row, wait_ns=waited, copy_ns=copied, basis=basis, split_basis=split, timed=timed
    )


def _bytes(key: Key) -> int | None:
    size = key.fields.get("bytes")
    return None if size is None else size * (key.count or 0)


@dataclasses.dataclass(frozen=True)
class _Time:
    """Nanoseconds over all executions of one key."""

    stood: int | None
    """None when none was timed."""
    copied: int | None
    """The part of it that was copying; None where the recorder did not tell it apart."""
    whole: bool
    """Each execution was timed; else the others are taken to be alike."""
    timed: int

    @classmethod
    def of(cls, tables: Tables, key: Key) -> _Time:
        sums, count = tables.totals.get(key.id), key.count or 0
        if sums is None or not sums.timed:
            return cls(None, None, count == 0, 0)
        copied = min(sums.value_sum or 0, sums.dur_ns) if key.fields.get("split") else None
        if sums.timed >= count:
            return cls(sums.dur_ns, copied, True, count)
        share = count / sums.timed
        scaled = None if copied is None else round(copied * share)
        return cls(round(sums.dur_ns * share), scaled, False, sums.timed)


_MOST_EVENTS = 40_000
"""Of the run's first events that are looked at; what recurs has few events of its own anyhow."""


def with_stalls(syncs: Iterable[Sync], tables: Tables, hops: Sequence[Hop]) -> list[Sync]:
    """The syncs with the copying of each where it can be told, its part of a step, and who stood idle.

    MXNet's recorder times waiting and copying apart. TensorFlow copies within the one call that waits, so
    there the copying is estimated: between cards and the host from the machine's measured copies, in the
    host's own memory from a copy that the recorder timed when the process started.

    Which devices stood idle is inferred from what they were given: while Python stands still it gives out
    nothing, so a device that got no work since Python last waited for it has none.
    """
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
    keys = {key.id: key for key in tables.keys if key.kind in KINDS}
    placed = functools.cache(lambda graph: frozenset(node.assigned for node in tables.nodes_of(graph)))
    devices = [device for device in tables.devices if not is_host(device)]
    busy: set[str] = set()
    used: set[str] = set()
    stood: Counter[tuple[str, str, str | None]] = Counter()
    nothing: dict[tuple[str, str, str | None], Counter[str]] = {}
    for number, dur in tables.first_events(KINDS, _MOST_EVENTS):
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


def _given(key: Key, tables: Tables, placed: Callable[[int], frozenset[str]]) -> Iterable[str]:
    fields = key.fields
    if key.kind == "op":
        return (str(fields.get("device") or ""),)
    if key.kind == "hop":
        # What Python took it has waited for.
        return () if fields.get("kind") == "pull" else (str(fields.get("src")), str(fields.get("dst")))
    graph = fields.get("graph")
    return (placed(graph) if graph else ()) or tables.devices
