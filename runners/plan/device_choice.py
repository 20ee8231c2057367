"""From the devices that a user names to what a process is given: variables, its own names, leases.

`gpu:2` is NVML's index, and becomes a UUID in CUDA_VISIBLE_DEVICES; inside the process the cards are
gpu:0, gpu:1 and so on, in the order named. `cpu:1` to `cpu:N` are stand-ins.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import Any

from runners.errors import HopscopeError, UsageError
from runners.machine.gpus import Gpu, Gpus, require_gpu

MOST_STAND_INS = 64


@dataclasses.dataclass
class DeviceChoice:
    """What a run gets; `problems` say what cannot be had, and the rest is then incomplete."""

    names: list[str] | None = None
    """As the user names them: NVML's indices. None: nothing was chosen for this run."""
    own_names: dict[str, str] = dataclasses.field(default_factory=dict)
    """From these names to the process's own."""
    cards: list[Gpu] = dataclasses.field(default_factory=list)
    """The GPUs that the process gets, in its own order."""
    stand_ins: int | None = None
    env: dict[str, str | None] = dataclasses.field(default_factory=dict)
    problems: list[str] = dataclasses.field(default_factory=list)
    notes: list[str] = dataclasses.field(default_factory=list)

    def map(self) -> dict[str, dict[str, Any]]:
        """Return what each of the process's own device names stands for."""
        known: dict[str, dict[str, Any]] = {}
        for ordinal, card in enumerate(self.cards):
            known[f"gpu:{ordinal}"] = {
                "nvml_index": card.index,
                "uuid": card.uuid,
                "pci_bus_id": card.pci_bus_id,
                "name": card.name,
            }
        return known | {f"cpu:{index}": {"stand_in": True} for index in range(1, (self.stand_ins or 0) + 1)}


def parse_device(text: str) -> str:
    """Return a device's name in lower case; UsageError where it is none."""
    name = text.strip().lower().removeprefix("/").removeprefix("device:")
    if re.fullmatch(r"(cpu|gpu):(0|[1-9][0-9]*)", name):
        return name
    near = re.fullmatch(r"(cpu|gpu|cuda)?\W*0*([0-9]+)", name)
    if near:
        kind = "cpu" if near[1] == "cpu" else "gpu"
        raise UsageError(f"{text.strip()!r} is not a device; did you mean {kind}:{near[2]}?")
    raise UsageError(f"{text.strip()!r} is not a device; write gpu:0 for a GPU or cpu:1 for a stand-in")


def parse_devices(names: Sequence[str]) -> list[str]:
    """Return different devices' names in lower case; UsageError for what is none, or is there twice."""
    parsed = [parse_device(name) for name in names]
    for name in parsed:
        if parsed.count(name) > 1:
            raise UsageError(f"{name} is named twice")
    return parsed


def number(name: str) -> int:
    """Return 2 for gpu:2."""
    return int(name.partition(":")[2])


def choose(names: Sequence[str] | None, stand_ins: int | None, gpus: Gpus) -> DeviceChoice:
    """Return what these devices, or this many stand-ins, mean on this machine."""
    choice = DeviceChoice(stand_ins=stand_ins)
    if stand_ins is not None and not 1 <= stand_ins <= MOST_STAND_INS:
        choice.problems.append(f"--stand-ins {stand_ins} is not possible: it takes 1 to {MOST_STAND_INS}")
        return choice
    if names is None:
        if stand_ins is not None:
            choice.names = [f"cpu:{index}" for index in range(1, stand_ins + 1)]
            choice.own_names = {name: name for name in choice.names}
        return choice
    try:
        choice.names = parse_devices(names)
    except UsageError as error:
        choice.problems.append(str(error))
        return choice
    for name in choice.names:
        if name.startswith("cpu:"):
            choice.own_names[name] = name
            continue
        try:
            card = require_gpu(gpus, number(name))
        except HopscopeError as error:
            choice.problems.append(str(error))
        else:
            choice.own_names[name] = f"gpu:{len(choice.cards)}"
            choice.cards.append(card)
    _give_stand_ins(choice)
    if choice.cards:
        choice.env["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
        choice.env["CUDA_VISIBLE_DEVICES"] = ",".join(card.uuid for card in choice.cards)
        choice.notes += [
            f"{choice.own_names[card.device]} in the process is {card.device}, {card.name} ({card.uuid})"
            for card in choice.cards
        ]
    return choice


def _give_stand_ins(choice: DeviceChoice) -> None:
    highest = max((number(name) for name in choice.names or () if name.startswith("cpu:")), default=0)
    if highest > MOST_STAND_INS:
        choice.problems.append(f"cpu:{highest} is not possible: there can be {MOST_STAND_INS} stand-ins")
    elif choice.stand_ins is None:
        choice.stand_ins = highest or None
    elif highest > choice.stand_ins:
        choice.problems.append(
            f"cpu:{highest} does not exist with --stand-ins {choice.stand_ins}: "
            f"they are cpu:1 to cpu:{choice.stand_ins}"
        )
