"""The machine's GPUs as NVML numbers them, for turning `gpu:2` into a UUID that means one card only."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable, Sequence
from typing import Any

from runners.errors import HopscopeError

KNOWN_FOR_S = 5.0


@dataclasses.dataclass(frozen=True)
class Gpu:
    """One card. `index` is NVML's, which is nvidia-smi's and not always CUDA's."""

    index: int
    uuid: str
    pci_bus_id: str
    name: str
    compute_capability: tuple[int, int] | None
    """None where NVML does not tell it."""

    @property
    def device(self) -> str:
        """How `--devices` names it: `gpu:0`."""
        return f"gpu:{self.index}"


@dataclasses.dataclass(frozen=True)
class Gpus:
    """The cards that could be read; `problem` says why there are none, or why some are missing."""

    cards: tuple[Gpu, ...] = ()
    problem: str | None = None


_last: tuple[float, Gpus] | None = None


def known_gpus() -> Gpus:
    """Return what `list_gpus` gave a few seconds ago at most: asking the driver anew may take a while."""
    global _last
    now = time.monotonic()
    if _last is None or now - _last[0] > KNOWN_FOR_S:
        _last = (now, list_gpus())
    return _last[1]


def list_gpus() -> Gpus:
    """Return this machine's GPUs in NVML's order; never raises, the reason is in `problem`."""
    try:
        import pynvml
    except ImportError:
        return Gpus(problem="nvidia-ml-py is not installed, so GPUs cannot be looked for")
    # Not an NVMLError: a driver and a library of different versions.
    failures: tuple[type[Exception], ...] = (pynvml.NVMLError, pynvml.NVMLLibraryMismatchError)
    try:
        pynvml.nvmlInit()
    except failures as error:
        return Gpus(problem=_why(error))
    try:
        return _read_all(pynvml, failures)
    except failures as error:
        return Gpus(problem=_why(error))
    finally:
        # Where the driver went away meanwhile, what was read stands.
        with contextlib.suppress(*failures):
            pynvml.nvmlShutdown()


def _read_all(pynvml: Any, failures: tuple[type[Exception], ...]) -> Gpus:
    cards, problems = [], []
    for index in range(int(pynvml.nvmlDeviceGetCount())):
        try:
            handle = pynvml.nvmlDeviceGetHandleByIndex(index)
            uuid = _text(pynvml.nvmlDeviceGetUUID(handle))
            bus = _text(pynvml.nvmlDeviceGetPciInfo(handle).busId)
            name = _text(pynvml.nvmlDeviceGetName(handle))
        except failures as error:
            problems.append(f"gpu:{index} cannot be read: {_why(error)}")
            continue
        cards.append(Gpu(index, uuid, bus, name, _capability(pynvml, handle, failures)))
    if not cards and not problems:
        problems.append("NVML reports no GPU")
    return Gpus(tuple(cards), "; ".join(problems) or None)


def _capability(pynvml: Any, handle: Any, failures: tuple[type[Exception], ...]) -> tuple[int, int] | None:
    read: Callable[[Any], Sequence[int]] = pynvml.nvmlDeviceGetCudaComputeCapability
    try:
        major, minor = read(handle)
    except failures:
        return None
    return int(major), int(minor)


def _text(value: str | bytes) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _why(error: Exception) -> str:
    code = getattr(error, "value", None)
    words = str(error).strip() or type(error).__name__
    plain_words = {
        9: "no NVIDIA driver is loaded",
        12: "no NVIDIA driver is installed",
        18: "the NVIDIA driver and its library differ in version; reload the driver or restart the machine",
        4: "access to the NVIDIA driver was denied",
    }
    plain = plain_words.get(code) if isinstance(code, int) else None
    return f"{plain} (NVML: {words})" if plain else f"NVML: {words}"


def visible_cards(gpus: Gpus, visible: str | None, order: str | None) -> tuple[Gpu, ...]:
    """Return the cards that a process with these CUDA variables may use, for leasing them.

    `visible` is CUDA_VISIBLE_DEVICES, None when unset; `order` is CUDA_DEVICE_ORDER. CUDA's own numbers
    cannot be told where cards differ and the order is by speed: then all of them count as used.
    """
    if visible is None:
        return gpus.cards
    ordered = order == "PCI_BUS_ID" or len({card.name for card in gpus.cards}) <= 1
    chosen: list[Gpu] = []
    for entry in visible.split(","):
        card = _named(gpus, entry.strip(), ordered)
        if card is None:
            # CUDA ends the list at the first entry that it cannot use.
            break
        if not ordered and not entry.strip().startswith("GPU-"):
            return gpus.cards
        if card in chosen:
            # CUDA shows no device at all when one is named twice.
            return ()
        chosen.append(card)
    return tuple(chosen)


def _named(gpus: Gpus, entry: str, ordered: bool) -> Gpu | None:
    if entry.startswith("GPU-"):
        matches = [card for card in gpus.cards if card.uuid.startswith(entry)]
        return matches[0] if len(matches) == 1 else None
    digits = entry[: len(entry) - len(entry.lstrip("0123456789"))]
    by_bus = sorted(gpus.cards, key=lambda card: card.pci_bus_id)
    if not digits or int(digits) >= len(by_bus):
        return None
    return by_bus[int(digits)]


def require_gpu(gpus: Gpus, index: int) -> Gpu:
    """Return the card with this NVML index; HopscopeError says which there are, or why there are none."""
    for card in gpus.cards:
        if card.index == index:
            return card
    if not gpus.cards:
        raise HopscopeError(f"gpu:{index} does not exist here: {gpus.problem or 'NVML reports no GPU'}")
    names = ", ".join(card.device for card in gpus.cards)
    raise HopscopeError(f"gpu:{index} does not exist here: this machine has {names}")
