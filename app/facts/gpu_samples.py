"""What was sampled of a run beside its recording: whose cards they were, and what it comes to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from app.facts.devices import in_order, is_gpu
from app.store.sample_parsing import HOST, RUN, THROTTLE, Numbers, SampleTable
from probes.cuda.driver import bus_id

BASIS = "sampled"
_CARD = ("utilization_gpu_percent", "memory_used_bytes", "power_watts", "temperature_celsius")


def devices_of_cards(
    device_map: Mapping[str, Mapping[str, Any]], samples: SampleTable
) -> dict[str, tuple[str, ...]]:
    """The run's own names of each card that is one of its devices, by the card's UUID, in their order.

    Several where processes share a card, or a card is cut into several devices.
    """
    gpus = in_order(device for device in device_map if is_gpu(device))
    cards = {name: source for name, source in samples.sources.items() if name not in (HOST, RUN)}
    found = {
        name: tuple(device for device in gpus if _is(device_map[device], name, source.facts))
        for name, source in cards.items()
    }
    if not any(found.values()) and len(cards) == len(gpus) == 1 and not _known(device_map[gpus[0]]):
        # Nothing says so, but there is no other that it could be.
        return {next(iter(cards)): (gpus[0],)}
    own = sorted((name for name in found if found[name]), key=lambda name: gpus.index(found[name][0]))
    return {name: found[name] for name in own}


def sample_summary(
    samples: SampleTable | None, device_map: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any] | None:
    """The samples as the report has them; None of a run that was never to be sampled."""
    if samples is None:
        return None
    devices = devices_of_cards(device_map, samples)
    cards = [name for name in samples.sources if name not in (HOST, RUN)]
    return {
        "basis": BASIS,
        "count": samples.rows,
        "every_s": float(samples.every_s.max()) if samples.rows else None,
        "lost": samples.lost,
        "damaged": samples.damaged,
        "skipped": samples.skipped,
        "unsampled": [{"count": count, "why": why} for why, count in samples.unsampled.items()],
        "nvml": samples.nvml,
        "cards": [
            _card(samples, name, devices.get(name, ()))
            for name in sorted(cards, key=lambda name: _place(samples, name, devices))
        ],
        "machine": _other(samples, HOST, "memory_used_bytes"),
        "processes": _other(samples, RUN, "memory_bytes"),
    }


def energy_joules(counter: Numbers) -> float | None:
    """What a counter of joules went up by, from sample to sample; None where it has not two values.

    It begins anew where the driver does: a step down counts for nothing.
    """
    there = counter[~np.isnan(counter)]
    return float(np.maximum(np.diff(there), 0.0).sum()) if len(there) > 1 else None


def _is(facts: Mapping[str, Any], uuid: str, card: Mapping[str, Any]) -> bool:
    if uuid in (facts.get("uuid"), facts.get("parent_uuid"), *(facts.get("also") or ())):
        return True
    known, bus = facts.get("pci_bus_id"), card.get("pci_bus_id")
    return isinstance(known, str) and isinstance(bus, str) and bus_id(known) == bus_id(bus)


def _place(samples: SampleTable, name: str, devices: Mapping[str, tuple[str, ...]]) -> tuple[int, float, str]:
    """The run's own first, in the order of its devices; then the others as nvidia-smi counts."""
    order = list(devices)
    index = samples.sources[name].facts.get("index", float("inf"))
    return (order.index(name) if name in devices else len(order), index, name)


def _known(facts: Mapping[str, Any]) -> bool:
    return any(facts.get(name) for name in ("uuid", "parent_uuid", "pci_bus_id"))


def _card(samples: SampleTable, name: str, devices: tuple[str, ...]) -> dict[str, Any]:
    source = samples.sources[name]
    load, memory, power, heat = (samples.column(name, field) for field in _CARD)
    throttle = samples.column(name, THROTTLE)
    return {
        "devices": list(devices),
        "uuid": name,
        "nvml_index": None if source.facts.get("index") is None else int(source.facts["index"]),
        "name": source.facts.get("name"),
        "count": int(np.count_nonzero(~np.isnan(np.stack([load, memory, power])).all(axis=0))),
        "mean_utilization_percent": _figure(np.mean, load),
        "max_utilization_percent": _figure(np.max, load),
        "peak_memory_bytes": _whole(_figure(np.max, memory)),
        "memory_total_bytes": _whole(source.facts.get("memory_total_bytes")),
        "mean_power_watts": _figure(np.mean, power),
        "max_power_watts": _figure(np.max, power),
        "max_temperature_celsius": _figure(np.max, heat),
        "energy_joules": energy_joules(samples.column(name, "energy_joules")),
        "throttled": [
            {"reasons": words, "count": count}
            for number, words in enumerate(samples.reasons)
            if (count := int(np.count_nonzero(throttle == number)))
        ],
        "missing": source.missing,
    }


def _other(samples: SampleTable, name: str, memory: str) -> dict[str, Any] | None:
    if name not in samples.sources:
        return None
    load, used = samples.column(name, "cpu_percent"), samples.column(name, memory)
    return {
        "count": int(np.count_nonzero(~np.isnan(used))),
        "mean_cpu_percent": _figure(np.mean, load),
        "max_cpu_percent": _figure(np.max, load),
        "peak_memory_bytes": _whole(_figure(np.max, used)),
        "cpu_cores": _whole(samples.sources.get(HOST, samples.sources[name]).facts.get("cpu_cores")),
    }


def _figure(of: Callable[[Numbers], Any], column: Numbers) -> float | None:
    there = column[~np.isnan(column)]
    return round(float(of(there)), 1) if len(there) else None


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
