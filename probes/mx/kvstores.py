"""Records what a kvstore exchanges between contexts, and between workers and servers.

MXNet makes the copies inside one call each of push and pull, so they are inferred from what its
algorithm does (exchange.py), and told so.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Optional

from ..trace.frames import PASSING, stands_for
from ..trace.guard import Guard
from ..trace.hop import MAKE_ROOM, HopConsumer, HopProducer, HopTensor, hop_key
from ..trace.recording import Recording
from ..trace.schema import CollectiveFields, HopFacts
from . import steps
from .arrays import Arrays
from .exact import ExactLines
from .exchange import Move, Store
from .marks import GRADIENT, Mark
from .mixed_inputs import MixedInputs


@dataclasses.dataclass
class _Plan:
    """What one key's exchange does every time."""

    keys: list[int]
    """The hops; below 0 a collective."""
    stays: list[tuple[int, str, str]]
    """Line, call and device of each copy that does not leave its device."""


class Kvstores:
    """The hooks and their tables."""

    def __init__(self, recording: Recording, arrays: Arrays, exact: Optional[ExactLines]) -> None:
        """Nothing was exchanged yet; `exact` counts the copies that are made, where it runs."""
        self._recording = recording
        self._exact = exact
        self._arrays = arrays
        self._stores: dict[int, Store] = {}

    def store(self, kvstore: Any) -> Store:
        """What is known of a kvstore object."""
        known = self._stores.get(kvstore.handle.value)
        if known is None:
            known = self._stores[kvstore.handle.value] = Store(str(kvstore.type))
            if known.distributed:
                known.rank = kvstore.rank
                self._recording.fact({"kvstore_rank": known.rank})
        return known

    def summed(self, kvstore: Any) -> bool:
        """Whether gradients of several contexts were handed to a store so far; true for strange ones."""
        handle = getattr(kvstore, "handle", None)
        known = None if handle is None else self._stores.get(handle.value)
        return known is None or known.summed or known.distributed

    def initialized(self, kvstore: Any, keys: Any, values: Any, call: str) -> None:
        """Arrays got their place in the store."""
        store = self.store(kvstore)
        for key, group in _pairs(keys, values):
            self._elements(store, key, group[0])
            handle = group[0].handle
            store.alive[key] = group[0] if store.distributed else None
            source, size = self._arrays.device(handle), self._arrays.size(handle)
            moves = store.initialized(key, source, handle.value, size)
            loc = self._recording.sites.current(2)
            identity = ("init", key, source, loc, call)
            plan = store.plans.get(identity)
            if plan is None:
                facts = HopFacts(copy_call="kvstore init", within=call)
                plan = self._plan(identity, group[0], loc, "kvstore init", moves, facts)
                store.plans[identity] = plan
            self._count(plan)

    def pushed(self, kvstore: Any, keys: Any, values: Any, call: str) -> None:
        """Gradients were handed in."""
        store = self.store(kvstore)
        for key, group in _pairs(keys, values):
            self._elements(store, key, group[0])
            devices = [self._arrays.device(array.handle) for array in group]
            home = store.take(key, devices, group[0].handle.value)
            store.alive[key] = group[0] if len(devices) == 1 else None
            loc = self._recording.sites.current(2)
            identity = ("push", key, tuple(devices), loc, call, home)
            plan = store.plans.get(identity)
            if plan is None:
                size = self._arrays.size(group[0].handle)
                moves = store.sent(key, devices, home, size)
                algorithm = f"kvstore {store.kind}, summed on {home}"
                if store.distributed:
                    algorithm += ", then by the servers"
                facts = HopFacts(
                    collective=algorithm,
                    summed_on=home,
                    exchange_devices=devices,
                    within=call,
                    exchanged=self._what(group[0]),
                )
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
            addresses = [array.handle.value for array in group]
            loc = self._recording.sites.current(2)
            origin, itself = store.origin(key)
            same = itself in addresses and addresses.index(itself)
            identity = ("pull", key, tuple(devices), loc, call, origin, same, store.summed)
            plan = store.plans.get(identity)
            if plan is None:
                moves = store.pulled(key, devices, addresses, self._arrays.size(group[0].handle))
                # Where it was summed does not make the way back a sum.
                facts = HopFacts(
                    collective=f"kvstore {store.kind}",
                    exchange_devices=devices,
                    within=call,
                    exchanged=self._what(group[0]),
                )
                plan = self._plan(identity, group[0], loc, "kvstore pull", moves, facts)
                store.plans[identity] = plan
            self._count(plan)
            for array in group:
                self._arrays.overwritten(array.handle)
                old = self._arrays.mark(array.handle)
                if old.op != "kvstore pull" or old.loc != loc:
                    mark = Mark("kvstore pull", loc, old.device, old.requested, old.bytes, old.total)
                    mark.filled = True  # the next pull leaves it as it is
                    self._arrays.made(array.handle, mark)

    def updated(self, kvstore: Any, key: Any, merged: Any, stored: Any) -> None:
        """The updater runs on what was summed for a key."""
        store = self.store(kvstore)
        name = key.decode() if isinstance(key, bytes) else key  # string keys come as C has them
        store.seen[name] = (self._arrays.device(merged.handle), self._arrays.device(stored.handle))

    def computed(self, array: Any) -> bool:
        """Whether an op or a backward pass made an array, and not Python, or zeros to be added to."""
        made = self._arrays.mark(array.handle).op
        return self._what(array) == "gradients" or made not in MAKE_ROOM | {"Python"}

    def _what(self, array: Any) -> str:
        """What an array is to the program."""
        address = array.handle.value
        if address in self._arrays.gradients or self._arrays.mark(array.handle).op == GRADIENT:
            return "gradients"
        return "weights" if address in self._arrays.wanted else "arrays"

    def _maker(self, array: Any) -> str:
        """The op that made what is handed to a store."""
        made = self._arrays.mark(array.handle).op
        return GRADIENT if made == "?" and self._what(array) == "gradients" else made

    def _elements(self, store: Store, key: Any, array: Any) -> None:
        if key not in store.sizes:
            count = 1
            for extent in self._arrays.shape(array.handle):
                count *= extent
            store.sizes[key] = count

    # -- what is written ---------------------------------------------------------------------------

    def _plan(
        self, identity: Any, array: Any, loc: int, op: str, moves: list[Move], facts: HopFacts
    ) -> _Plan:
        mark = self._arrays.mark(array.handle)
        name = steps.parameter_name(identity[1])
        plan = _Plan([], [(loc, facts["within"], src) for src, dst, _ in moves if src == dst])
        for src, dst, size in moves:
            if src == dst:
                continue
            served = "server:" in src + dst
            known = facts.copy()
            if served:  # neither holds for what goes over the network
                known.pop("summed_on", None)
                known.pop("within", None)
            pulled = op == "kvstore pull"
            maker, made = ("kvstore", loc) if pulled else (self._maker(array), mark.loc)
            dtype, shape = self._arrays.dtype(array.handle)[0], self._arrays.shape(array.handle)
            fields = hop_key(
                HopProducer(src, maker, made, name),
                HopConsumer(dst, op, loc),
                HopTensor(size, dtype, shape, "inferred"),
                "copy",
                facts=known,
            )
            plan.keys.append(self._recording.key(("kvstore", op, identity, src, dst), "hop", fields))
        return plan

    def _collective(
        self, identity: Any, devices: list[str], size: int, moves: list[Move], algorithm: str, loc: int
    ) -> int:
        fields = CollectiveFields(
            op="kvstore push",
            devices=devices,
            tensors=1,
            payload_bytes=size,
            wire_bytes=sum(part for src, dst, part in moves if src != dst),
            algorithm=algorithm,
            loc=loc,
            basis="inferred",
            graph=0,
            per_call=None,
        )
        return -self._recording.key(("collective", *identity), "collective", fields)

    def _count(self, plan: _Plan) -> None:
        for key in plan.keys:
            self._recording.happened(abs(key), "hop" if key > 0 else "collective")
        if self._exact is not None:
            for place in plan.stays:
                self._exact.stays(*place)


def _pairs(keys: Any, values: Any) -> list[tuple[Any, list[Any]]]:
    """(key, its arrays) of what push and pull take: one or many keys, one or many arrays each."""
    if not isinstance(keys, (list, tuple)):
        return [(keys, list(values) if isinstance(values, (list, tuple)) else [values])]
    if len(values) == len(keys):
        return [(key, list(v) if isinstance(v, (list, tuple)) else [v]) for key, v in zip(keys, values)]
    each = len(values) // max(1, len(keys))
    return [(key, list(values[i * each : (i + 1) * each])) for i, key in enumerate(keys)]


def install(
    recording: Recording, arrays: Arrays, mixed: MixedInputs, exact: Optional[ExactLines]
) -> Kvstores:
    """Wrap the kvstore class of MXNet itself; other kinds of store are told as unseen."""
    from mxnet.kvstore import kvstore

    owner: Any = kvstore.KVStore
    stores = Kvstores(recording, arrays, exact)
    pushes = steps.Pushes(recording, stores.computed)
    guard = recording.guard("what kvstores exchange")

    def wrap(name: str, after: Callable[..., None]) -> None:
        original = vars(owner).get(name)
        if original is None:
            return

        @stands_for(original)
        def exchanged(self: Any, *args: Any, **kwargs: Any) -> Any:
            with PASSING:
                result = original(self, *args, **kwargs)
            with guard:
                after(self, *args, **kwargs)
            return result

        setattr(owner, name, exchanged)

    def push(store: Any, key: Any, value: Any, priority: int = 0) -> None:
        pushes.pushed(store, key, value)
        stores.pushed(store, key, value, "kvstore push")

    def pull(store: Any, key: Any, out: Any = None, priority: int = 0, ignore_sparse: bool = True) -> None:
        stores.pulled(store, key, out, "kvstore pull")

    def pushpull(store: Any, key: Any, value: Any, out: Any = None, priority: int = 0) -> None:
        pushes.pushed(store, key, value)
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

    def set_optimizer(store: Any, optimizer: Any) -> None:
        pushes.given(store)

    for function in (push, pull, pushpull, init, broadcast, row_sparse_pull, set_optimizer):
        wrap(function.__name__, function)
    _wrap_updater(owner, stores, mixed, guard)
    return stores


def _wrap_updater(owner: Any, stores: Kvstores, mixed: MixedInputs, guard: Guard) -> None:
    """See what a store's updater is given, of a program's own or of an optimizer."""
    set_updater = owner._set_updater

    @stands_for(set_updater)
    def _set_updater(self: Any, updater: Any) -> Any:
        def seen(key: Any, merged: Any, stored: Any) -> None:
            with guard:
                stores.updated(self, key, merged, stored)
            mixed.updating += 1
            try:
                with PASSING:
                    updater(key, merged, stored)
            finally:
                mixed.updating -= 1

        with PASSING:
            result = set_updater(self, seen)
        # What it keeps is asked for an optimizer's states, by a Trainer's `save_states` for one.
        with guard:
            if self._updater is seen:
                self._updater = updater
        return result

    owner._set_updater = _set_updater
