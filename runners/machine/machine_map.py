"""The machine's GPUs as a run's folder keeps them, to tell its cards apart later and elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from probes.cuda.driver import bus_id
from runners.machine.cuda_order import Visible, order_name, orders, visible
from runners.machine.gpus import Gpu, Gpus

VARIABLES = ("CUDA_DEVICE_ORDER", "CUDA_VISIBLE_DEVICES")


def machine_map(gpus: Gpus, environment: Mapping[str, str]) -> dict[str, Any]:
    """Return the GPUs with their numbers, and what of the environment decides which of them a process sees.

    ``{"gpus": [{"index", "uuid", "pci_bus_id", "name"}], "cuda_orders": {"PCI_BUS_ID": {uuid: ordinal},
    "FASTEST_FIRST": null where it is not known}, "environment": {"CUDA_DEVICE_ORDER": text or null, ..}}``
    """
    both = orders(gpus.cards, complete=gpus.problem is None)
    return {
        "gpus": [
            {"index": card.index, "uuid": card.uuid, "pci_bus_id": card.pci_bus_id, "name": card.name}
            for card in gpus.cards
        ],
        "cuda_orders": {
            name: None if order.ordinals is None else dict(order.ordinals) for name, order in both.named()
        },
        "environment": {name: environment.get(name) for name in VARIABLES},
    }


class MachineMap:
    """A map that was kept, read leniently: somebody may have edited it."""

    def __init__(self, kept: Any) -> None:
        """`kept` is what `machine_map` returned, or nothing that can be read."""
        self._kept = kept if isinstance(kept, Mapping) else {}
        self.cards = list(_cards(self._kept.get("gpus")))

    def card(self, facts: Mapping[str, Any]) -> Gpu | None:
        """The card that a device's facts name: by its UUID or its parent's, else by PCI bus id."""
        for name in ("uuid", "parent_uuid"):
            for card in self.cards:
                if facts.get(name) == card.uuid:
                    return card
        place = facts.get("pci_bus_id")
        if isinstance(place, str) and place:
            for card in self.cards:
                if bus_id(card.pci_bus_id) == bus_id(place):
                    return card
        return None

    @property
    def environment(self) -> dict[str, str | None]:
        """The variables that decide which GPUs a process sees, as the launcher had them; None: not set."""
        kept = self._kept.get("environment")
        found = kept if isinstance(kept, Mapping) else {}
        return {name: _text(found.get(name)) for name in VARIABLES}

    def visible(self, environment: Mapping[str, str | None]) -> Visible:
        """What a process with this environment sees of the machine."""
        kept = self._kept.get("cuda_orders")
        order = order_name(environment.get("CUDA_DEVICE_ORDER"))
        ordinals = kept.get(order) if isinstance(kept, Mapping) else None
        known = ordinals if isinstance(ordinals, Mapping) else None
        return visible(self.cards, environment.get("CUDA_VISIBLE_DEVICES"), known)


def _cards(kept: Any) -> Sequence[Gpu]:
    found = []
    for row in kept if isinstance(kept, list) else ():
        if isinstance(row, Mapping) and isinstance(row.get("index"), int):
            texts = [_text(row.get(name)) for name in ("uuid", "pci_bus_id", "name")]
            if texts[0]:
                found.append(Gpu(row["index"], texts[0], texts[1] or "", texts[2] or "", None))
    return found


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
