"""What MXNet's kvstores do inside one call of push or pull, from their sources (src/kvstore of 1.9).

- `local` copies every context's gradient to the host, sums there, and copies the result to each.
- `device` copies every gradient to one context, that which has the least to sum so far, the largest
  arrays first; where the updater runs in Python it tells which one it was, and that counts.
- `dist_*` sum the worker's own contexts like that, send the sum from the host to a server, and receive
  into the host. An array of a million elements or more is cut over all servers.

What one context alone hands in is not summed: the store then keeps that array itself, and what comes
next from it, or over the network into it, starts there.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from typing import Any

from ..trace.hop import HOST

_SERVER_PRIME = 9973
"""By which kvstore_dist.h spreads keys over servers."""
Move = tuple[str, str, int]
"""(source, destination, bytes); what is copied from an array of a device to another one there is no hop."""


@dataclasses.dataclass
class Store:
    """What is known of one kvstore."""

    kind: str
    rank: int = 0
    """Of the worker, where servers hold the values."""
    sizes: dict[Any, int] = dataclasses.field(default_factory=dict)
    """Elements of each key's array, in the order of their init."""
    merged: dict[Any, str] = dataclasses.field(default_factory=dict)
    """Where each key's gradients are summed."""
    seen: dict[Any, tuple[str, str]] = dataclasses.field(default_factory=dict)
    """What the updater saw: (where the sum is, where the stored value is) by key."""
    kept: dict[Any, tuple[str, int]] = dataclasses.field(default_factory=dict)
    """(device, address) of what a push left of each key; 0 where that is an array of the store's own."""
    alive: dict[Any, Any] = dataclasses.field(default_factory=dict)
    """The array at that address, which MXNet keeps too: kept here so that no other one gets its address."""
    summed: bool = False
    """Whether the gradients of several contexts were ever handed in."""
    plans: dict[Any, Any] = dataclasses.field(default_factory=dict)
    """What is written for each exchange that is like an earlier one."""

    @property
    def on_devices(self) -> bool:
        """Whether it sums on the contexts themselves."""
        return "device" in self.kind or self.kind == "nccl"

    @property
    def distributed(self) -> bool:
        """Whether servers hold the values."""
        return self.kind.startswith("dist")

    def initialized(self, key: Any, source: str, address: int, size: int) -> list[Move]:
        """A value from `source` gets its place: on the host, or on the servers, where worker 0 sends it."""
        if not self.distributed:
            return [(source, HOST, size)]
        if self.rank != 0:
            return []
        return self.sent(key, [source], self.take(key, [source], address), size)

    def take(self, key: Any, devices: Sequence[str], address: int) -> str:
        """Where the arrays of `devices`, the first of them at `address`, are summed when they are pushed."""
        self.summed = self.summed or len(devices) > 1
        home = self._summed_at(key, devices)
        self.kept[key] = (home, address if len(devices) == 1 else 0)
        if self.distributed and not home.startswith("cpu"):
            self.kept[key] = (HOST, 0)  # only the host's memory goes over the network
        return home

    def sent(self, key: Any, devices: Sequence[str], home: str, size: int) -> list[Move]:
        """What moves when they are pushed."""
        moves = [(device, home, size) for device in devices] if len(devices) > 1 else []
        if self.distributed:
            origin = self.kept[key][0]
            if origin != home:
                moves.append((home, origin, size))
            moves += [(origin, server, part) for server, part in self._servers(key, size)]
        return moves

    def origin(self, key: Any) -> tuple[str, int]:
        """(device, address) of what a pull hands out; the address is 0 for an array of the store's own."""
        seen = None if self.distributed else self.seen.get(key)
        return (seen[1], 0) if seen is not None else self.kept.get(key, (HOST, 0))

    def pulled(self, key: Any, devices: Sequence[str], addresses: Sequence[int], size: int) -> list[Move]:
        """What moves when the arrays of `devices`, at `addresses`, get a key's value."""
        origin, itself = self.origin(key)
        moves: list[Move] = []
        if self.distributed:
            moves += [(server, origin, part) for server, part in self._servers(key, size)]
        if not self.on_devices:
            if origin.startswith("gpu"):
                moves.append((origin, HOST, size))
                origin, itself = HOST, 0
            # Nothing is copied to itself.
            return moves + [(origin, d, size) for d, address in zip(devices, addresses) if address != itself]
        if not self.summed:  # to one context by the key's number, and from it to the others
            at = self._number(key) % len(devices)
            if addresses[at] != itself:
                moves.append((origin, devices[at], size))
            others = [device for index, device in enumerate(devices) if index != at]
            return moves + [(devices[at], device, size) for device in others]
        seen = self.seen.get(key)
        merged = seen[0] if seen is not None else self.merged.get(key, origin)
        if seen is not None or (self.distributed and origin != merged):
            moves.append((origin, merged, size))
        return moves + [(merged, device, size) for device in devices]

    def _summed_at(self, key: Any, devices: Sequence[str]) -> str:
        seen = self.seen.get(key)
        if seen is not None:
            return seen[0]
        if len(devices) == 1:
            return devices[0]
        if not self.on_devices:
            return HOST
        if key not in self.merged:
            self.merged.update(spread(self.sizes, list(dict.fromkeys(devices))))
        return self.merged.get(key, devices[0])

    def _number(self, key: Any) -> int:
        """The number by which MXNet knows a key: its own, or for a text that of its init."""
        if isinstance(key, int):
            return key
        return list(self.sizes).index(key) if key in self.sizes else 0

    def _servers(self, key: Any, size: int) -> list[tuple[str, int]]:
        """The servers that hold a key, and the bytes of it that each holds."""
        count = int(os.environ.get("DMLC_NUM_SERVER") or 1)
        bound = int(os.environ.get("MXNET_KVSTORE_BIGARRAY_BOUND") or 1_000_000)
        if self.sizes.get(key, 0) >= bound and count > 1:
            return [(f"server:{rank}/{HOST}", size // count) for rank in range(count)]
        return [(f"server:{self._number(key) * _SERVER_PRIME % count}/{HOST}", size)]


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
