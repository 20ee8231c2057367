"""Measures what copies between the GPUs and the host's memory cost, through CUDA's driver alone.

A process of its own that prints JSON lines: before each pair ``{"done", "of", "text"}``, at last ``{"made",
"cuda_driver", "size_bytes", "pairs": [{"src", "dst", "memory", "bytes_per_second", "latency_seconds",
"peer"}], "skipped": [{"src", "dst", "reason"}]}``, an end being a UUID or ``host``; or ``{"problem"}``, why
not. `memory` says which of the host's memory it was, pinned or pageable, and `peer` whether one card reaches
the other's memory directly.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import sys
import time
from typing import Any, Callable, NamedTuple, Optional

from .driver import LIBRARY, CudaError, Driver
from .timing import Copy, Wait, large_copy, small_copy

SIZE_BYTES = 64 << 20
LIMIT_S = 60.0
HOST = "host"
PINNED, PAGEABLE = "pinned", "pageable"

_MARGIN_BYTES = 64 << 20
_NON_BLOCKING = 1
_COMPUTE_MODE = 20
_MODES = {
    2: "its compute mode is prohibited",
    3: "it is in exclusive mode, and measuring would take it from others",
}
_TOO_MANY_PEERS = 711
_ALREADY_ENABLED = 704


class Refused(Exception):
    """A card is left alone; the text says why."""


class Pair(NamedTuple):
    """Two ends of a copy."""

    src: Any
    dst: Any
    memory: Optional[str]


class Card:
    """A GPU with a context, a stream, and two buffers."""

    def __init__(self, driver: Driver, ordinal: int, size: int) -> None:
        """Refused or CudaError where the card cannot or should not be used."""
        self.driver = driver
        self.ordinal = ordinal
        identity = driver.identity(ordinal)
        self.uuid = identity.get("uuid") or identity.get("pci_bus_id") or str(ordinal)
        mode = driver.attribute(ordinal, _COMPUTE_MODE)
        if mode in _MODES:
            raise Refused(_MODES[mode])
        self.context = ctypes.c_void_p()
        driver.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), driver.device(ordinal))
        try:
            self.use()
            free, total = ctypes.c_size_t(), ctypes.c_size_t()
            driver.call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
            if free.value < 2 * size + _MARGIN_BYTES:
                raise Refused(f"only {free.value >> 20} MiB of its memory are free")
            self.stream = ctypes.c_void_p()
            driver.call("cuStreamCreate", ctypes.byref(self.stream), _NON_BLOCKING)
            self.out, self.into = self._buffer(size), self._buffer(size)
        except (Refused, CudaError):
            self.close()
            raise

    def _buffer(self, size: int) -> ctypes.c_uint64:
        address = ctypes.c_uint64()
        self.driver.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        return address

    def use(self) -> None:
        """Make its context the current one."""
        self.driver.call("cuCtxSetCurrent", self.context)

    def wait(self) -> None:
        """Until its copies are done."""
        self.driver.call("cuStreamSynchronize", self.stream)

    def close(self) -> None:
        """Give its context and so its memory back."""
        self.driver.call("cuDevicePrimaryCtxRelease_v2", self.driver.device(self.ordinal))


class HostMemory:
    """The host's end: as much memory of either kind as a copy takes."""

    def __init__(self, driver: Driver, card: Card, size: int) -> None:
        card.use()
        self._pageable = ctypes.create_string_buffer(size)
        ctypes.memset(self._pageable, 1, size)
        pinned = ctypes.c_void_p()
        driver.call("cuMemAllocHost_v2", ctypes.byref(pinned), ctypes.c_size_t(size))
        self._pinned = pinned

    def address(self, memory: Optional[str]) -> ctypes.c_void_p:
        """Where it begins."""
        if memory == PINNED:
            return self._pinned
        return ctypes.c_void_p(ctypes.addressof(self._pageable))


class Bench:
    """All ends, and what copying between them takes."""

    def __init__(self, driver: Driver, size: int) -> None:
        self.driver = driver
        self.size = size
        self.cards: list[Card] = []
        self.host: Optional[HostMemory] = None
        self.skipped: list[dict[str, Any]] = []
        for ordinal in range(driver.count()):
            self._take(ordinal)
        if self.cards:
            self.host = HostMemory(driver, self.cards[0], size)
        self.peers = {
            (one.uuid, other.uuid): self._connect(one, other)
            for one in self.cards
            for other in self.cards
            if one is not other
        }

    def _take(self, ordinal: int) -> None:
        try:
            self.cards.append(Card(self.driver, ordinal, self.size))
        except (Refused, CudaError) as error:
            identity = self.driver.identity(ordinal)
            name = identity.get("uuid") or identity.get("pci_bus_id") or str(ordinal)
            self.skipped.append({"src": name, "dst": None, "reason": str(error)})

    def _connect(self, one: Card, other: Card) -> bool:
        """Let one card reach the other's memory, where that is possible; whether it does."""
        can = ctypes.c_int()
        one.use()
        try:
            ends = (self.driver.device(one.ordinal), self.driver.device(other.ordinal))
            self.driver.call("cuDeviceCanAccessPeer", ctypes.byref(can), *ends)
            if not can.value:
                return False
            self.driver.call("cuCtxEnablePeerAccess", other.context, 0)
        except CudaError as error:
            return error.code == _ALREADY_ENABLED
        return True

    def pairs(self) -> list[Pair]:
        """Every ordered pair, each card with itself too."""
        cards = self.cards
        with_host = [
            Pair(src, dst, memory)
            for card in cards
            for memory in (PINNED, PAGEABLE)
            for src, dst in ((HOST, card), (card, HOST))
        ]
        return with_host + [Pair(one, other, None) for one in cards for other in cards]

    def measure(self, pair: Pair) -> dict[str, Any]:
        """What one pair's copies take; CudaError where they fail."""
        copy, wait = self._copying(pair)
        large = large_copy(copy, wait, self.size)
        small = small_copy(copy, wait)
        peer = None
        if pair.memory is None and pair.src is not pair.dst:
            peer = self.peers[(pair.src.uuid, pair.dst.uuid)]
        return {
            "src": _name(pair.src),
            "dst": _name(pair.dst),
            "memory": pair.memory,
            "bytes_per_second": self.size / large,
            "latency_seconds": small,
            "peer": peer,
        }

    def _copying(self, pair: Pair) -> tuple[Copy, Wait]:
        """What starts a copy of so many bytes, and what waits for it."""
        src, dst, memory = pair
        call = self.driver.call
        card: Card = dst if src is HOST else src
        card.use()
        if src is HOST or dst is HOST:
            assert self.host is not None
            there = self.host.address(memory)
            name = "cuMemcpyHtoDAsync_v2" if src is HOST else "cuMemcpyDtoHAsync_v2"
            ends: tuple[Any, ...] = (card.into, there) if src is HOST else (there, card.out)
        elif src is dst:
            name, ends = "cuMemcpyDtoDAsync_v2", (card.into, card.out)
        else:
            name, ends = "cuMemcpyPeerAsync", (dst.into, dst.context, src.out, src.context)

        def copy(size: int) -> None:
            call(name, *ends, ctypes.c_size_t(size), card.stream)

        return copy, card.wait

    def close(self) -> None:
        """Give everything back."""
        for card in self.cards:
            card.close()


def _name(end: Any) -> str:
    return HOST if end is HOST else str(end.uuid)


def measure(size: int, limit_s: float, tell: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Measure all there is within the time, telling of each pair before; the result, or the problem."""
    try:
        driver = Driver.start()
        bench = Bench(driver, size)
    except OSError:
        return {"problem": f"there is no NVIDIA driver: {LIBRARY} was not found"}
    except CudaError as error:
        return {"problem": str(error)}
    until = time.monotonic() + limit_s
    pairs, found = bench.pairs(), []
    for number, pair in enumerate(pairs):
        src, dst = _name(pair.src), _name(pair.dst)
        if time.monotonic() > until:
            late = {"src": src, "dst": dst, "reason": f"not reached within {limit_s:g} s"}
            bench.skipped.append(late)
            continue
        memory = f" ({pair.memory} memory)" if pair.memory else ""
        tell({"done": number, "of": len(pairs), "text": f"{src} to {dst}{memory}"})
        try:
            found.append(bench.measure(pair))
        except CudaError as error:
            bench.skipped.append({"src": src, "dst": dst, "reason": str(error)})
    with contextlib.suppress(CudaError):  # of a card that was lost meanwhile
        bench.close()
    if not found:
        reasons = dict.fromkeys(f"{row['src']}: {row['reason']}" for row in bench.skipped)
        return {"problem": "; ".join(reasons) or "CUDA shows no GPU", "skipped": bench.skipped}
    return {
        "made": time.time(),
        "cuda_driver": driver.version(),
        "size_bytes": size,
        "pairs": found,
        "skipped": bench.skipped,
    }


def _say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Measure as the command line says."""
    parser = argparse.ArgumentParser(prog="probes.cuda.bandwidth")
    parser.add_argument("--bytes", type=int, default=SIZE_BYTES)
    parser.add_argument("--limit", type=float, default=LIMIT_S)
    given = parser.parse_args()
    _say(measure(given.bytes, given.limit, _say))


if __name__ == "__main__":
    main()
