"""A `gpu:i` is another GPU than was asked for, or has another number in nvidia-smi."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from app.diagnosis.cause import Cause
from app.diagnosis.causes.device_order.example import EXAMPLE
from app.facts.device_map import card_key
from app.facts.devices import is_gpu, parse
from app.facts.tables import Tables
from app.judgments.evidence import FindingEvidence
from app.judgments.finding import Finding
from app.judgments.severity import WARNING
from app.views.naming import some_of
from probes.trace.rows import Process
from runners.machine.machine_map import VARIABLES, MachineMap

CODE = "device-order"
_FIX_VARIABLES = (
    "Leave CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER alone in the program; choose its cards with --devices."
)
_FIX_PROGRAM = "Let --devices alone choose the cards, or name them in the order that the program uses."
_COUNTED_ALIKE = "CUDA_DEVICE_ORDER=PCI_BUS_ID, without CUDA_VISIBLE_DEVICES"
_FIX_NONE = "Look whether the framework is a build for GPUs, and whether the program hides them from itself."


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evidence(FindingEvidence):
    """Of a run's GPUs; lists are ``gpu:0: nvidia-smi's 2``."""

    asked_for: list[str] | None = None
    got: list[str] | None = None
    lacking: list[str] | None = None
    cards: list[str] | None = None
    told_by: list[str] | None = None
    launched_with: str | None = None
    """Variables of CUDA at the launch."""
    in_the_process: str
    """The same where the framework counts."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Numbering(Evidence):
    """Of devices whose numbers are not those of nvidia-smi."""

    counted_alike_with: str | None
    """Variables that number both alike; None where processes number unlike."""


@dataclasses.dataclass(frozen=True)
class _Got:
    """A GPU of one process, and the card that it was."""

    device: str
    card: str
    """In words: ``nvidia-smi's 2``."""
    key: str
    number: int | None
    """In nvidia-smi."""
    process: Process
    source: str
    """Who says which card it is."""


def order_findings(spec: Mapping[str, Any], tables: Tables) -> list[Finding]:
    """At most one finding: the run got other cards than were asked for, or counts them unlike nvidia-smi."""
    machine = MachineMap(spec.get("machine"))
    got = [
        _Got(
            device,
            _words(facts, machine),
            key,
            card.index if (card := machine.card(facts)) else None,
            process,
            str(facts.get("source") or ""),
        )
        for process in tables.processes
        for device, facts in process.device_map.items()
        if is_gpu(device) and (key := card_key(facts, machine))
    ]
    asked = _asked(spec, machine)
    found = asked and (_differs(asked, got) or _lacks(asked, got, tables))
    if found:
        return [found]
    return _counted_otherwise(got) if asked is None or not asked.by_option else []


@dataclasses.dataclass(frozen=True)
class _Asked:
    """What was asked for: by --devices, or by the environment that the run was launched in."""

    devices: Mapping[str, Mapping[str, Any]]
    by_option: bool
    launched_with: Mapping[str, str | None]
    machine: MachineMap

    def facts_of(self, device: str) -> Mapping[str, Any]:
        """What the device was meant to be; nothing for one that was not asked for."""
        return self.devices.get(device) or self.devices.get(device.rpartition("/")[2]) or {}

    def key_of(self, device: str) -> str:
        """The card that the device was meant to be."""
        return card_key(self.facts_of(device), self.machine)

    def finding(self, process: Process, said: str, unchanged: str, fix: str, **facts: Any) -> Finding:
        """What is not as asked: `said` of a process that set variables itself, else `unchanged` and `fix`."""
        inside, launched = _environment(process), self.launched_with
        changed = " and ".join(
            f"removed {name}" if inside[name] is None else f"set {name}={inside[name]}"
            for name in VARIABLES
            if name in inside and inside[name] != launched.get(name)
        )
        evidence = Evidence(launched_with=_set_to(launched), in_the_process=_set_to(inside), **facts)
        summary = f"{said}the program {changed} itself." if changed else unchanged
        return Finding(CODE, WARNING, None, summary, evidence, _FIX_VARIABLES if changed else fix, ())

    @property
    def by(self) -> str:
        """Who asked."""
        return "--devices" if self.by_option else "CUDA_VISIBLE_DEVICES at the launch"


def _asked(spec: Mapping[str, Any], machine: MachineMap) -> _Asked | None:
    named, chosen = spec.get("devices"), spec.get("device_map")
    env = spec.get("env") if isinstance(spec.get("env"), Mapping) else {}
    if isinstance(named, list) and isinstance(chosen, Mapping):
        gpus = {
            str(device): facts
            for device, facts in chosen.items()
            if is_gpu(str(device)) and isinstance(facts, Mapping) and card_key(facts, machine)
        }
        set_to = {name: env.get(name) for name in VARIABLES} if isinstance(env, Mapping) else {}
        return _Asked(gpus, True, set_to, machine) if gpus else None
    environment = machine.environment
    if environment["CUDA_VISIBLE_DEVICES"] is None or not machine.cards:
        return None
    devices = machine.visible(environment).devices
    if any(card is None for card in devices):
        return None
    shown = {f"gpu:{place}": {"uuid": card.uuid} for place, card in enumerate(devices) if card is not None}
    return _Asked(shown, False, environment, machine)


def _lacks(asked: _Asked, got: Sequence[_Got], tables: Tables) -> Finding | None:
    """Devices whose cards no process has, where processes told of all their devices."""
    complete = [process for process in tables.processes if process.header.get("devices_complete")]
    unknown = any(
        is_gpu(device) and not card_key(process.device_map.get(device, {}), asked.machine)
        for process in complete
        for device in process.devices
    )
    cards = {one.key for one in got}
    lacking = [name for name, facts in asked.devices.items() if card_key(facts, asked.machine) not in cards]
    if not complete or unknown or not lacking:
        return None
    verb = "is" if len(lacking) == 1 else "are"
    said = f"{some_of(lacking, 'devices')}, which {asked.by} asked for, {verb} in no process of the run"
    return asked.finding(complete[0], f"{said}: ", f"{said}.", _FIX_NONE, lacking=lacking)


def _differs(asked: _Asked, got: Sequence[_Got]) -> Finding | None:
    different = [one for one in got if asked.key_of(one.device) != one.key]
    if not different:
        return None
    pairs = []
    for one in [*{one.device: one for one in reversed(different)}.values()][::-1]:
        meant = asked.facts_of(one.device)
        wanted = f"not {_words(meant, asked.machine)}" if meant else "which was not asked for"
        pairs.append(f"{one.device} is {one.card}, {wanted}")
    said = f"The run got other cards than {asked.by} asked for: {some_of(pairs, 'devices', '; ')}; "
    return asked.finding(
        different[0].process,
        said,
        f"{said}the program left only some of its devices visible, and the framework numbers those anew.",
        _FIX_PROGRAM,
        asked_for=[f"{device}: {_words(facts, asked.machine)}" for device, facts in asked.devices.items()],
        got=[f"{one.device}: {one.card}" for one in different],
        told_by=_told_by(different),
    )


def _counted_otherwise(got: Sequence[_Got]) -> list[Finding]:
    """A note where a device's number is not nvidia-smi's, or not the same card in every process."""
    pairs: dict[tuple[str, str], _Got] = {(one.device, one.key): one for one in got}
    several = len({device for device, _ in pairs}) < len(pairs)
    other = [one for one in pairs.values() if one.number not in (None, _ordinal(one.device))]
    if not other and not several:
        return []
    shown = list(pairs.values()) if several else other
    told = some_of((f"{one.device} is {one.card}" for one in shown), "devices")
    inside = _environment(shown[0].process)
    why = _why(inside)
    summary = f"The run counts its GPUs unlike nvidia-smi: {told}; {why}."
    if several:
        summary = f"One name is several cards in this run's processes: {told}."
    evidence = Numbering(
        cards=[f"{one.device}: {one.card}" for one in pairs.values()],
        told_by=_told_by(shown),
        in_the_process=_set_to(inside),
        counted_alike_with=None if several else _COUNTED_ALIKE,
    )
    return [Finding(CODE, "info", None, summary, evidence, None, ())]


def _why(inside: Mapping[str, str | None]) -> str:
    if inside.get("CUDA_VISIBLE_DEVICES"):
        return f"it counts the entries of CUDA_VISIBLE_DEVICES={inside['CUDA_VISIBLE_DEVICES']}"
    if inside.get("CUDA_DEVICE_ORDER") != "PCI_BUS_ID":
        return "CUDA counts the fastest card first unless CUDA_DEVICE_ORDER is PCI_BUS_ID"
    return "some cards are not visible in it"


def _ordinal(device: str) -> int:
    found = parse(device)
    return found.index if found else -1


def _words(facts: Mapping[str, Any], machine: MachineMap) -> str:
    card = machine.card(facts)
    index = facts.get("nvml_index") if card is None else card.index
    return f"nvidia-smi's {index}" if isinstance(index, int) else card_key(facts, machine)


def _environment(process: Process) -> dict[str, str | None]:
    found = process.header.get("cuda_environment")
    return dict(found) if isinstance(found, Mapping) else {}


def _told_by(devices: Iterable[_Got]) -> list[str]:
    return list(dict.fromkeys(one.source for one in devices))


def _set_to(environment: Mapping[str, str | None]) -> str:
    return ", ".join(
        f"{name}={environment[name]}" if environment[name] is not None else f"{name} not set"
        for name in VARIABLES
        if name in environment
    )


CAUSE = Cause(
    code=CODE,
    severity=WARNING,
    evidence=Evidence,
    meaning="A `gpu:i` is another GPU than was asked for, or has another number in nvidia-smi.",
    example=EXAMPLE,
    sometimes="warning; note where only the numbers differ from nvidia-smi's",
    detect=lambda run: order_findings(run.spec or {}, run.tables),
)
