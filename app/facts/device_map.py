"""The devices of a run: which card each was, and which of them lists of runs show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.facts.devices import in_order, is_host
from app.facts.tables import Tables
from app.store.traced_devices import traced_devices
from runners.machine.machine_map import MachineMap
from runners.runs.run import Run


def device_map(spec: Mapping[str, Any], tables: Tables) -> dict[str, dict[str, Any]]:
    """What each device is: the launcher's facts with what the process itself saw laid over them.

    With the card's number in nvidia-smi where the launcher's machine is known. `also` has the cards that a
    device of the same name was in other processes. Stand-ins that were given and that no process made are
    left out where the processes say which devices they have.
    """
    chosen = spec.get("device_map")
    result: dict[str, dict[str, Any]] = {}
    if isinstance(chosen, Mapping):
        result = {str(name): dict(facts) for name, facts in chosen.items() if isinstance(facts, Mapping)}
    machine = MachineMap(spec.get("machine"))
    told: dict[str, dict[str, Any]] = {}
    for process in tables.processes:
        for device, facts in process.device_map.items():
            first = told.setdefault(device, dict(facts))
            known, key = card_key(first, machine), card_key(facts, machine)
            if known and key and known != key and key not in first.setdefault("also", []):
                first["also"].append(key)
    for device, facts in told.items():
        launched = result.get(device, {})
        if card_key(facts, machine) and card_key(launched, machine) != card_key(facts, machine):
            # It is another card than the launcher meant: nothing that was said of that one holds.
            launched = {"stand_in": launched["stand_in"]} if "stand_in" in launched else {}
        result[device] = {**launched, **facts}
    for facts in result.values():
        card = machine.card(facts)
        if card is not None:
            facts.setdefault("pci_bus_id", card.pci_bus_id)
            facts["nvml_index"] = card.index
            if not facts.get("name"):
                facts["name"] = card.name
    unmade = _unmade(result, tables)
    return {device: result[device] for device in in_order(result) if device not in unmade}


def _unmade(given: Mapping[str, Mapping[str, Any]], tables: Tables) -> set[str]:
    """The stand-ins among these that no process made; none where one did not tell all its devices."""
    told = [process for process in tables.processes if process.framework]
    if not told or not all(process.header.get("devices_complete") for process in told):
        return set()
    if any("/" in device for device in tables.own_devices):
        return set()  # of several processes, which have their own names for them
    return {name for name, facts in given.items() if facts.get("stand_in")} - set(tables.devices)


def card_key(facts: Mapping[str, Any], machine: MachineMap) -> str:
    """What tells one card from another; a part of a card counts as that card."""
    card = machine.card(facts)
    if card is not None:
        return card.uuid
    return next((str(facts[name]) for name in ("parent_uuid", "uuid", "pci_bus_id") if facts.get(name)), "")


def devices_of(run: Run) -> tuple[list[str], set[str]]:
    """The devices that a run was given, by the process's own names, and which of them are stand-ins."""
    facts = run.spec.get("device_map")
    known = facts if isinstance(facts, dict) else {}
    stand_ins = {name for name, fact in known.items() if isinstance(fact, dict) and fact.get("stand_in")}
    return list(known), stand_ins


def recorded_devices(run: Run) -> tuple[list[str], set[str]]:
    """As `devices_of`; of a run that was given none in particular, those that its trace knows."""
    devices, stand_ins = devices_of(run)
    if devices:
        return devices, stand_ins
    found = traced_devices(run.path)
    return without_host(in_order(found)), {device for device in found if found[device].get("stand_in")}


def without_host(devices: Sequence[str]) -> list[str]:
    """The devices beside the host; the host where there is nothing else."""
    return [device for device in devices if not is_host(device)] or list(devices)
