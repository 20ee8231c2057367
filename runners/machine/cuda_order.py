"""In which order CUDA counts this machine's GPUs, and so what CUDA_VISIBLE_DEVICES names.

PCI_BUS_ID is an order by rule. FASTEST_FIRST, CUDA's default, is a heuristic of the driver: where not all
cards are alike, a process of its own asks the driver for it.
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from probes.cuda.driver import bus_id
from probes.nvml.missing import absent
from runners.machine.gpus import Gpu, Gpus, gpus_of
from runners.machine.visible_devices import Entry, MigInstance, Visible, visible

__all__ = [
    "Entry",
    "MigInstance",
    "Order",
    "Orders",
    "Visible",
    "may_use",
    "mig_of",
    "order_name",
    "orders",
    "visible",
    "visible_now",
    "with_ordinals",
]

PCI_BUS_ID: OrderName = "PCI_BUS_ID"
FASTEST_FIRST: OrderName = "FASTEST_FIRST"
OrderName = Literal["PCI_BUS_ID", "FASTEST_FIRST"]

ROOT = Path(__file__).resolve().parents[2]
PROBE = "probes.cuda.order"
TIMEOUT_S = 30.0
_FAILURE_KNOWN_FOR_S = 30.0


@dataclasses.dataclass(frozen=True)
class Order:
    """CUDA's count under one CUDA_DEVICE_ORDER, with CUDA_VISIBLE_DEVICES unset."""

    ordinals: Mapping[str, int] | None
    """By UUID; None where it is not known."""
    basis: str
    """``measured``, ``inferred`` or ``unknown``."""
    reason: str
    """What that rests on, or why it is not known."""


@dataclasses.dataclass(frozen=True)
class Orders:
    """Both of CUDA's orders."""

    pci_bus_id: Order
    fastest_first: Order

    def under(self, name: str | None) -> Order:
        """The order that a CUDA_DEVICE_ORDER gives; None: it is not set."""
        return dict(self.named())[order_name(name)]

    def named(self) -> tuple[tuple[OrderName, Order], ...]:
        """Each with the CUDA_DEVICE_ORDER that gives it."""
        return ((PCI_BUS_ID, self.pci_bus_id), (FASTEST_FIRST, self.fastest_first))


class Answers:
    """What the driver said of a machine's cards; to be asked for by one thread at a time, under `guard`."""

    def __init__(self) -> None:
        self.guard = threading.Lock()
        self.measured: dict[tuple[object, ...], Order] = {}
        self.failed: dict[tuple[object, ...], tuple[float, Order]] = {}
        """With the times of the failures."""


answers = Answers()


def order_name(value: str | None) -> OrderName:
    """Which order a CUDA_DEVICE_ORDER means: anything but PCI_BUS_ID leaves CUDA's default."""
    return PCI_BUS_ID if value == PCI_BUS_ID else FASTEST_FIRST


def orders(cards: Sequence[Gpu], complete: bool = True, here: bool = True) -> Orders:
    """Return both orders of these cards; not `complete` where the machine has others that cannot be read.

    Where no rule tells, the driver is asked, which takes a second; its answer is remembered. Of a machine
    that is not `here`, only rules can tell.
    """
    ask = _asked if here else _not_asked
    if cards and not complete:
        return Orders(ask(cards, PCI_BUS_ID), ask(cards, FASTEST_FIRST))
    by_bus = sorted(cards, key=lambda card: bus_id(card.pci_bus_id))
    ordinals = {card.uuid: place for place, card in enumerate(by_bus)}
    pci = Order(ordinals, "inferred", "CUDA's rule: by PCI bus id")
    if len(cards) < 2:
        return Orders(pci, Order(ordinals, "inferred", "there is only one GPU"))
    if len({(card.name, card.compute_capability) for card in cards}) == 1:
        return Orders(pci, Order(ordinals, "inferred", "all cards are alike: as by PCI bus id"))
    return Orders(pci, ask(cards, FASTEST_FIRST))


def visible_now(
    gpus: Gpus, environment: Mapping[str, str], mig: Mapping[str, Sequence[MigInstance]] | None = None
) -> Visible:
    """Return what a process with this environment sees of the machine's GPUs."""
    both = orders(gpus.cards, complete=gpus.problem is None)
    order = both.under(environment.get("CUDA_DEVICE_ORDER"))
    return visible(gpus.cards, environment.get("CUDA_VISIBLE_DEVICES"), order.ordinals, mig)


def may_use(gpus: Gpus, environment: Mapping[str, str]) -> tuple[Gpu, ...]:
    """Return the cards that a process with this environment may use, in its order, for leasing them.

    All of them where it cannot be told which: CUDA's order is not known, or the value names a MIG instance.
    """
    value = environment.get("CUDA_VISIBLE_DEVICES")
    if value is None or "MIG-" in value:
        return gpus.cards
    devices = visible_now(gpus, environment).devices
    cards = tuple(card for card in devices if card is not None)
    return cards if len(cards) == len(devices) else gpus.cards


def mig_of(snapshot: Mapping[str, Any]) -> dict[str, list[MigInstance]]:
    """Return the instances of each card in MIG mode, by the card's UUID."""
    found: dict[str, list[MigInstance]] = {}
    for gpu in snapshot.get("gpus", ()):
        listed = gpu.get("mig")
        if gpu.get("mig_mode") != "on" or not isinstance(gpu.get("uuid"), str):
            continue
        found[gpu["uuid"]] = [
            MigInstance(one["uuid"], one["gpu_instance"], one["compute_instance"])
            for one in (listed if isinstance(listed, list) else ())
            if isinstance(one.get("uuid"), str)
        ]
    return found


def with_ordinals(
    snapshot: Mapping[str, Any], environment: Mapping[str, str] | None = None, here: bool = True
) -> dict[str, Any]:
    """Return the snapshot with `cuda_ordinal` and `cuda_ordinals` for each GPU.

    `cuda_ordinal` is CUDA's number in this environment, by default this process's; Missing for a hidden card.
    `here` as in `orders`.
    """
    environment = os.environ if environment is None else environment
    found = gpus_of(snapshot)
    both = orders(found.cards, complete=found.problem is None, here=here)
    order = both.under(environment.get("CUDA_DEVICE_ORDER"))
    value = environment.get("CUDA_VISIBLE_DEVICES")
    seen = visible(found.cards, value, order.ordinals, mig_of(snapshot)).devices
    places = {card.uuid: place for place, card in enumerate(seen) if card is not None}
    hidden = (
        absent(order.reason, "error") if None in seen else absent(f"hidden by CUDA_VISIBLE_DEVICES={value}")
    )
    unread = absent("the card cannot be read", "error")
    known = {card.index: card.uuid for card in found.cards}
    gpus = []
    for gpu in snapshot["gpus"]:
        uuid = known.get(gpu["index"])
        each = {name: _number(one, uuid) if uuid else unread for name, one in both.named()}
        number = places.get(uuid, hidden) if uuid else unread
        gpus.append({**gpu, "cuda_ordinal": number, "cuda_ordinals": each})
    return {**snapshot, "gpus": gpus}


def _number(order: Order, uuid: str) -> Any:
    return absent(order.reason, "error") if order.ordinals is None else order.ordinals[uuid]


def _asked(cards: Sequence[Gpu], name: OrderName) -> Order:
    """What the driver says; remembered for as long as the cards stay the same, a failure for a moment."""
    machine = (name, *sorted((card.uuid, card.pci_bus_id) for card in cards))
    with answers.guard:
        if machine in answers.measured:
            return answers.measured[machine]
        at, failure = answers.failed.get(machine, (0.0, None))
        if failure is not None and time.monotonic() - at < _FAILURE_KNOWN_FOR_S:
            return failure
        found = _joined(cards, ask_driver(name))
        if found.ordinals is None:
            answers.failed[machine] = (time.monotonic(), found)
        else:
            answers.measured[machine] = found
        return found


def _not_asked(_cards: Sequence[Gpu], _name: OrderName) -> Order:
    return Order(
        None, "unknown", "unlike cards are counted as their machine's driver does, which was not asked"
    )


def ask_driver(order: OrderName, value: str | None = None) -> dict[str, Any]:
    """Return what the driver shows to a process with this order and CUDA_VISIBLE_DEVICES; None: unset.

    ``{"devices": [..]}`` as probes.cuda.order prints it, or ``{"problem"}``; never raises.
    """
    environment = {name: text for name, text in os.environ.items() if name != "CUDA_VISIBLE_DEVICES"}
    environment["CUDA_DEVICE_ORDER"] = order
    if value is not None:
        environment["CUDA_VISIBLE_DEVICES"] = value
    try:
        done = subprocess.run(
            [sys.executable, "-E", "-m", PROBE],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"problem": f"the NVIDIA driver did not answer within {TIMEOUT_S:.0f} s"}
    except OSError as error:
        return {"problem": f"the driver could not be asked: {error.strerror or error}"}
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        answer = None
    if isinstance(answer, dict):
        return answer
    how = f"signal {-done.returncode}" if done.returncode < 0 else f"status {done.returncode}"
    return {"problem": f"the process that asked the driver ended with {how}"}


def _joined(cards: Sequence[Gpu], answer: Mapping[str, Any]) -> Order:
    """CUDA's devices as NVML's cards: by UUID, else by PCI bus id."""
    problem = answer.get("problem")
    if problem:
        return Order(None, "unknown", f"CUDA's order could not be asked: {problem}")
    ordinals: dict[str, int] = {}
    for device in answer.get("devices", ()):
        if device.get("parent_uuid"):
            why = "in MIG mode CUDA shows one instance only, not the cards' order"
            return Order(None, "unknown", why)
        for card in cards:
            same = card.uuid == device.get("uuid")
            if same or bus_id(card.pci_bus_id) == device.get("pci_bus_id"):
                ordinals[card.uuid] = device["ordinal"]
    shown = len(answer.get("devices", ()))
    if sorted(ordinals.values()) != list(range(shown)) or len(ordinals) < len(cards):
        why = f"NVML can read {len(cards)} GPUs and CUDA shows {shown}, which are not the same"
        return Order(None, "unknown", why)
    return Order(ordinals, "measured", "asked of the driver")
