"""Records what a kvstore exchanges between contexts, and between workers and servers.

MXNet makes the copies inside one call each of push and pull, so they are inferred from what its
algorithm does (src/kvstore/comm.h, kvstore_local.h and kvstore_dist.h of 1.9), and told so:

- `local` copies every context's gradient to the host, sums there, and copies the result to each.
- `device` copies every gradient to one context, that which has the least to sum so far, the largest
  arrays first; where the updater runs in Python it tells which one it was, and that counts.
- `dist_*` sum the worker's own contexts like that, send the sum from the host to a server, and receive
  into the host. An array of a million elements or more is cut over all servers.
"""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Callable, Sequence
from typing import Any, Optional

from ..trace.hop import HOST, hop_fields
from ..trace.recording import Recording
from . import steps
from .arrays import Arrays, Mark
from .exact import ExactLines
from .ops import Ops

_SERVER_PRIME = 9973
"""By which kvstore_dist.h spreads keys over servers."""
_ON_THIS_MACHINE = frozenset({"summed_on", "within"})
"""Facts that do not hold for what goes over the network."""
Move = tuple[str, str, int]
"""(source, destination, bytes); what is copied from an array of a device to another one there is no hop."""


@dataclasses.dataclass
class _Plan:
    """What one key's exchange does every time."""

    keys: list[int]
    """The hops; below 0 a collective."""
    stays: list[tuple[int, str, str]]
    """Line, call and device of each copy that does not leave its device."""


@dataclasses.dataclass
class _Store:
    """What is known of one kvstore."""

    kind: str
    sizes: dict[Any, int] = dataclasses.field(default_factory=dict)
    """Elements of each key's array, in the order of their init."""
    merged: dict[Any, str] = dataclasses.field(default_factory=dict)
    """Where each key's gradients are summed."""
    seen: dict[Any, tuple[str, str]] = dataclasses.field(default_factory=dict)
    """What the updater saw: (where the sum is, where the stored value is) by key."""
    plans: dict[Any, _Plan] = dataclasses.field(default_factory=dict)
    stored: dict[Any, str] = dataclasses.field(default_factory=dict)
    """Where each key's value was left by a push that no updater took."""
    summed: bool = False
    """Whether the gradients of several contexts were ever handed in."""

    @property
    def on_devices(self) -> bool:
        """Whether it sums on the contexts themselves."""
        return "device" in self.kind or self.kind == "nccl"

    @property
    def distributed(self) -> bool:
        """Whether servers hold the values."""
        return self.kind.startswith("dist")


def spread(sizes: dict[Any, int], devices: Sequence[str]) -> dict[Any, str]:
    """Where `device` sums each key: the largest arrays first, each to the context with the least so far.

    `sizes` are elements by key; of contexts with equally much the first one is taken.
    """
    load = dict.fromkeys(devices, 0)
    result = {}
    for key in sorted(sizes, key=lambda name: -sizes[name]):
        result[key] = min(load, key=lambda device: load[device])
        load[result[key]] += sizes[key]
    return result


class Kvstores:
    """The hooks and their tables."""

    def __init__(self, recording: Recording, arrays: Arrays, ops: Ops, exact: Optional[ExactLines]) -> None:
        """Nothing was exchanged yet; `exact` counts the copies that are made, where it runs."""
        self._recording = recording
        self._exact = exact
        self._arrays = arrays
        self._ops = ops
        self._stores: dict[int, _Store] = {}

    def store(self, kvstore: Any) -> _Store:
        """What is known of a kvstore object."""
        known = self._stores.get(kvstore.handle.value)
        if known is None:
            known = self._stores[kvstore.handle.value] = _Store(str(kvstore.type))
            if known.distributed:
                self._recording.fact({"kvstore_rank": kvstore.rank})
        return known

    def initialized(self, kvstore: Any, keys: Any, values: Any, call: str) -> None:
        """Arrays got their place in the store: copied to the host."""
        store = self.store(kvstore)
        for key, group in _pairs(keys, values):
            self._elements(store, key, group[0])
            source = self._arrays.device(group[0].handle)
            if not store.distributed:
                size = self._arrays.size(group[0].handle)
                loc = self._recording.sites.current(2)
                identity = ("init", key, source, loc, call)
                plan = store.plans.get(identity)
                if plan is None:
                    facts = {"copy_call": "kvstore init", "within": call}
                    moves = [(source, HOST, size)]
                    plan = self._plan(identity, group[0], loc, "kvstore init", moves, facts)
                    store.plans[identity] = plan
                self._count(plan)

    def pushed(self, kvstore: Any, keys: Any, values: Any, call: str) -> None:
        """Gradients were handed in."""
        store = self.store(kvstore)
        for key, group in _pairs(keys, values):
            self._elements(store, key, group[0])
            devices = [self._arrays.device(array.handle) for array in group]
            store.summed = store.summed or len(devices) > 1
            loc = self._recording.sites.current(2)
            identity = ("push", key, tuple(devices), loc, call)
            plan = store.plans.get(identity)
            if plan is None:
                size = self._arrays.size(group[0].handle)
                home = self._sum_at(store, key, devices)
                store.stored[key] = home
                moves = [(device, home, size) for device in devices] if len(devices) > 1 else []
                algorithm = f"kvstore {store.kind}, summed on {home}"
                if store.distributed:
                    origin = home if len(devices) > 1 or home.startswith("cpu") else HOST
                    moves += [(home, HOST, size)] if origin is not home else []
                    moves += [(origin, server, part) for server, part in self._servers(store, key, size)]
                    algorithm = f"kvstore {store.kind}, summed on {home}, then by the servers"
                facts = {"collective": algorithm, "summed_on": home, "exchange_devices": devices}
                facts["within"] = call
                plan = self._plan(identity, group[0], loc, "kvstore push", moves, facts)
                if len(devices) > 1 or store.distributed:
                    plan.keys.append(self._collective(identity, devices, size, moves, algorithm, loc))
                store.plans[identity] = plan
            self._count(plan)

    def pulled(self, kvstore: Any, keys: Any, outputs: Any, call: str) -> None:
        """Sums or weights were handed out."""
        store = self.store(kvstore)
        for key, group in _pairs(keys, outputs):
            devices = [self._arrays.device(array.handle) for array in group]
            loc = self._recording.sites.current(2)
            seen = _seen(store, key)
            origin = seen[1] if seen else store.stored.get(key, HOST)
            identity = ("pull", key, tuple(devices), loc, call, origin, store.summed)
            plan = store.plans.get(identity)
            if plan is None:
                size = self._arrays.size(group[0].handle)
                moves: list[Move] = []
                if store.distributed:
                    moves += [(server, HOST, part) for server, part in self._servers(store, key, size)]
                moves += self._handed_out(store, key, HOST if store.distributed else origin, devices, size)
                # Where it was summed does not make the way back a sum.
                facts = {"collective": f"kvstore {store.kind}", "exchange_devices": devices, "within": call}
                plan = store.plans[identity] = self._plan(
                    identity, group[0], loc, "kvstore pull", moves, facts
                )
            self._count(plan)
            for array in group:
                old = self._arrays.mark(array.handle)
                if old.op != "kvstore pull" or old.loc != loc:
                    mark = Mark("kvstore pull", loc, old.device, old.requested, old.bytes, old.total)
                    self._arrays.made(array.handle, mark)

    def updated(self, kvstore: Any, key: Any, merged: Any, stored: Any) -> None:
        """The updater runs on what was summed for a key."""
        store = self.store(kvstore)
        store.seen[key] = (self._arrays.device(merged.handle), self._arrays.device(stored.handle))

    # -- what the algorithm does -------------------------------------------------------------------

    def _elements(self, store: _Store, key: Any, array: Any) -> None:
        if key not in store.sizes:
            count = 1
            for extent in self._arrays.shape(array.handle):
                count *= extent
            store.sizes[key] = count

    def _sum_at(self, store: _Store, key: Any, devices: Sequence[str]) -> str:
        seen = _seen(store, key)
        if seen is not None:
            return seen[0]
        if len(devices) == 1:
            return devices[0]
        if not store.on_devices:
            return HOST
        if key not in store.merged:
            store.merged.update(spread(store.sizes, list(dict.fromkeys(devices))))
        return store.merged.get(key, devices[0])

    def _handed_out(
        self, store: _Store, key: Any, origin: str, devices: Sequence[str], size: int
    ) -> list[Move]:
        """How a value that lies at `origin` gets to every context; a copy to itself is none."""
        if not store.on_devices or store.distributed:
            if not origin.startswith("gpu"):
                return [(origin, device, size) for device in devices]
            return [(origin, HOST, size)] + [(HOST, device, size) for device in devices]
        if not store.summed:  # to one context by the key's number, and from it to the others
            at = self._number(store, key) % len(devices)
            others = [device for index, device in enumerate(devices) if index != at]
            return [(origin, devices[at], size)] + [(devices[at], device, size) for device in others]
        seen = _seen(store, key)
        merged = seen[0] if seen else store.merged.get(key, origin)
        moves = [(origin, merged, size)] if seen else []
        return moves + [(merged, device, size) for device in devices]

    def _number(self, store: _Store, key: Any) -> int:
        """The number by which MXNet knows a key: its own, or for a text that of its init."""
        if isinstance(key, int):
            return key
        return list(store.sizes).index(key) if key in store.sizes else 0

    def _servers(self, store: _Store, key: Any, size: int) -> list[tuple[str, int]]:
        """The servers that hold a key, and the bytes of it that each holds."""
        count = int(os.environ.get("DMLC_NUM_SERVER") or 1)
        bound = int(os.environ.get("MXNET_KVSTORE_BIGARRAY_BOUND") or 1_000_000)
        if store.sizes.get(key, 0) >= bound and count > 1:
            return [(f"server:{rank}/{HOST}", size // count) for rank in range(count)]
        number = self._number(store, key)
        return [(f"server:{number * _SERVER_PRIME % count}/{HOST}", size)]

    # -- what is written ---------------------------------------------------------------------------

    def _plan(
        self, identity: Any, array: Any, loc: int, op: str, moves: list[Move], facts: dict[str, Any]
    ) -> _Plan:
        mark = self._arrays.mark(array.handle)
        name = steps.parameter_name(identity[1])
        plan = _Plan([], [(loc, facts["within"], src) for src, dst, _ in moves if src is dst])
        for src, dst, size in moves:
            if src is dst:
                continue
            served = "server:" in src + dst
            known = {
                name: value for name, value in facts.items() if not (served and name in _ON_THIS_MACHINE)
            }
            fields = hop_fields(
                src,
                dst,
                op=op,
                loc=loc,
                producer_op=mark.op if op == "kvstore push" and mark.op != "?" else "gradient",
                producer=name,
                producer_loc=mark.loc,
                size=size,
                dtype=self._arrays.dtype(array.handle)[0],
                shape=self._arrays.shape(array.handle),
                kind="copy",
                basis="inferred",
                facts=known,
            )
            if op != "kvstore push":
                fields["producer_op"] = "kvstore"
            plan.keys.append(self._recording.key(("kvstore", op, identity, src, dst), "hop", fields))
        return plan

    def _collective(
        self, identity: Any, devices: list[str], size: int, moves: list[Move], algorithm: str, loc: int
    ) -> int:
        fields = {
            "op": "kvstore push",
            "devices": devices,
            "tensors": 1,
            "payload_bytes": size,
            "wire_bytes": sum(part for src, dst, part in moves if src is not dst),
            "algorithm": algorithm,
            "loc": loc,
            "basis": "inferred",
            "graph": 0,
            "per_call": None,
        }
        return -self._recording.key(("collective", *identity), "collective", fields)

    def _count(self, plan: _Plan) -> None:
        for key in plan.keys:
            self._recording.happened(abs(key), "hop" if key > 0 else "collective")
        if self._exact is not None:
            for place in plan.stays:
                self._exact.stays(*place)


def _seen(store: _Store, key: Any) -> Optional[tuple[str, str]]:
    """What the updater saw of a key; string keys reach it as the number of their init."""
    known = store.seen.get(key)
    if known is None and not isinstance(key, int) and key in store.sizes:
        known = store.seen.get(str(key))
    return known


def _pairs(keys: Any, values: Any) -> list[tuple[Any, list[Any]]]:
    """(key, its arrays) of what push and pull take: one or many keys, one or many arrays each."""
    if not isinstance(keys, (list, tuple)):
        return [(keys, list(values) if isinstance(values, (list, tuple)) else [values])]
    if len(values) == len(keys):
        return [(key, list(v) if isinstance(v, (list, tuple)) else [v]) for key, v in zip(keys, values)]
    each = len(values) // max(1, len(keys))
    return [(key, list(values[i * each : (i + 1) * each])) for i, key in enumerate(keys)]


def install(recording: Recording, arrays: Arrays, ops: Ops, exact: Optional[ExactLines]) -> None:
    """Wrap the kvstore class of MXNet itself; other kinds of store are told as unseen."""
    from mxnet.kvstore import kvstore

    owner: Any = kvstore.KVStore
    stores = Kvstores(recording, arrays, ops, exact)

    def wrap(name: str, after: Callable[..., None]) -> None:
        original = vars(owner).get(name)
        if original is None:
            return

        @functools.wraps(original)
        def exchanged(self: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(self, *args, **kwargs)
            after(self, *args, **kwargs)
            return result

        setattr(owner, name, exchanged)

    def push(store: Any, key: Any, value: Any, priority: int = 0) -> None:
        stores.pushed(store, key, value, "kvstore push")

    def pull(store: Any, key: Any, out: Any = None, priority: int = 0, ignore_sparse: bool = True) -> None:
        stores.pulled(store, key, out, "kvstore pull")

    def pushpull(store: Any, key: Any, value: Any, out: Any = None, priority: int = 0) -> None:
        stores.pushed(store, key, value, "kvstore pushpull")
        stores.pulled(store, key, value if out is None else out, "kvstore pushpull")

    def init(store: Any, key: Any, value: Any) -> None:
        stores.initialized(store, key, value, "kvstore init")

    def broadcast(store: Any, key: Any, value: Any, out: Any, priority: int = 0) -> None:
        stores.initialized(store, key, value, "kvstore broadcast")
        stores.pulled(store, key, out, "kvstore broadcast")

    def row_sparse_pull(
        store: Any, key: Any, out: Any = None, priority: int = 0, row_ids: Any = None
    ) -> None:
        recording.unseen("rows that a kvstore hands out", "how many rows travel depends on the batch")

    for function in (push, pull, pushpull, init, broadcast, row_sparse_pull):
        wrap(function.__name__, function)

    set_updater = owner._set_updater

    @functools.wraps(set_updater)
    def _set_updater(self: Any, updater: Any) -> Any:
        def seen(key: Any, merged: Any, stored: Any) -> None:
            stores.updated(self, key, merged, stored)
            ops.updating += 1
            try:
                updater(key, merged, stored)
            finally:
                ops.updating -= 1

        return set_updater(self, seen)

    owner._set_updater = _set_updater
