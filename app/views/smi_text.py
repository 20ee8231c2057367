"""A snapshot as the table that nvidia-smi prints, in text of a fixed width.

More than there: the memory that the driver keeps for itself apart from what is used, the SM clock, the PCIe
link, and in words throttle reasons, ECC and XID errors. N/A never stands without its reason below, and a
process of another container is shown as such.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from app.views.columns import cut, left, plain
from app.views.gaps import NOTHING, Gaps, field, why
from app.views.host_text import host_line
from app.views.index_map import index_map
from app.views.smi_mig import mig_table, short_name
from app.views.smi_processes import process_table
from probes.nvml.snapshot import is_missing
from runners.version import VERSION

WIDTH = 91
_LEFT, _MIDDLE, _RIGHT = 41, 24, 22
_INNER = WIDTH - 2
_LINE = f"+{'-' * _INNER}+"
_CELLS_LINE = f"+{'-' * _LEFT}+{'-' * _MIDDLE}+{'-' * _RIGHT}+"
_XIDS_TOLD = 3
_NAME_ROOM = 28
_COMPUTE = {
    "default": "Default",
    "exclusive process": "E. Process",
    "exclusive thread": "E. Thread",
    "prohibited": "Prohibited",
}
_HEAD = (
    " GPU  Name                 Persistence-M | Bus-Id                 | Volatile Uncorr. ECC ",
    " Fan   Temp  Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. ",
    " SM clock: now / most          PCIe link |        Reserved memory |               MIG M. ",
)

Gpu = Mapping[str, Any]


def machine_text(snapshot: Mapping[str, Any], environment: Mapping[str, str]) -> str:
    """The table and below it which card is which, to a process with this environment.

    The snapshot is one `with_ordinals`. For `devices` and the route /hopscope/devices.txt.
    """
    told = index_map(snapshot, environment)
    return smi_text(snapshot) + (f"\n{told}" if told else "")


def smi_text(snapshot: Mapping[str, Any]) -> str:
    """The table of a snapshot; without a GPU the reason in one line, and the host."""
    lines = [_made(snapshot)]
    gpus = snapshot.get("gpus", [])
    problem = nvml_problem(snapshot)
    if problem is not None:
        lines.append(problem)
    sampler = snapshot.get("sampler", {})
    if sampler.get("state") == "stale":
        lines.append(f"These figures are old: {plain(sampler.get('text', ''))}")
    if gpus:
        gaps = Gaps()
        lines += _gpu_table(snapshot, gaps)
        lines += mig_table(gpus, gaps, _INNER)
        lines += process_table(gpus, gaps, _INNER)
        lines += gaps.lines(WIDTH)
    lines += host_line(snapshot.get("host", {}), WIDTH)
    return "\n".join(lines) + "\n"


def nvml_problem(snapshot: Mapping[str, Any]) -> str | None:
    """Why there are no GPUs to show, or not all of them, in one line; None where all is well."""
    nvml = snapshot.get("nvml", "ok")
    if isinstance(nvml, Mapping):
        reason = plain(nvml.get("reason", ""))
        text = plain(nvml.get("text", "")) or reason or "NVML does not answer"
        return f"No GPU can be read: {text}{f' ({reason})' if reason and reason != text else ''}"
    return None if snapshot.get("gpus") else "No GPU: the NVIDIA driver runs and reports none"


def _made(snapshot: Mapping[str, Any]) -> str:
    host = snapshot.get("host", {})
    name = field(host, "hostname")
    when = datetime.fromtimestamp(float(snapshot.get("t", 0))).strftime("%Y-%m-%d %H:%M:%S")
    return when if is_missing(name) else f"{when}  {cut(plain(name), WIDTH - len(when) - 2)}"


def _gpu_table(snapshot: Mapping[str, Any], gaps: Gaps) -> list[str]:
    driver, cuda = _version(snapshot, "driver"), _version(snapshot, "cuda_driver")
    title = f" Hopscope {VERSION:<16}  Driver Version: {driver:<18} CUDA Version: {cuda}"
    lines = [_LINE, f"|{left(title, _INNER)}|", "|" + _CELLS_LINE[1:-1] + "|"]
    lines += [f"|{row}|" for row in _HEAD]
    lines.append("|" + _CELLS_LINE[1:-1].replace("-", "=") + "|")
    for gpu in snapshot["gpus"]:
        lines += [*_gpu_rows(gpu, gaps), _CELLS_LINE]
    return lines


def _version(snapshot: Mapping[str, Any], name: str) -> str:
    value = field(snapshot, name)
    return f"[{why(value)}]" if is_missing(value) else plain(value)


def _gpu_rows(gpu: Gpu, gaps: Gaps) -> list[str]:
    gone = gpu.get("unreadable")
    if isinstance(gone, Mapping):
        return _gone_rows(gpu, gone)

    def text(name: str, what: str) -> str:
        value = gaps.value(gpu, name, what)
        return NOTHING if value is None else plain(value)

    def number(name: str, what: str, form: str, factor: float = 1) -> str:
        value = gaps.value(gpu, name, what)
        return NOTHING if value is None else form.format(value / factor)

    persistence = gaps.value(gpu, "persistence_mode", "persistence mode")
    ecc_mode = gaps.value(gpu, "ecc_mode", "ECC")
    if ecc_mode is None:
        ecc = NOTHING
    else:
        ecc = number("ecc_uncorrected_volatile", "ECC errors", "{:.0f}") if ecc_mode else "Off"
    mode = gaps.value(gpu, "compute_mode", "compute mode")
    compute = NOTHING if mode is None else _COMPUTE.get(mode, plain(mode))
    mig = gaps.value(gpu, "mig_mode", "MIG mode")
    used = number("memory_used_bytes", "memory", "{:.0f}MiB", 2**20)
    total = number("memory_total_bytes", "memory", "{:.0f}MiB", 2**20)
    reserved = number("memory_reserved_bytes", "reserved memory", "{:.0f}MiB", 2**20)
    busy = number("utilization_gpu_percent", "utilization", "{:.0f}%")
    rows = (
        (
            f" {gpu['index']:>3}  {_name(gpu, gaps)} {_switch(persistence, 'On', 'Off'):>4}  ",
            f"   {left(text('pci_bus_id', 'bus id'), 20)} ",
            f" {ecc:>20} ",
        ),
        (
            f" {number('fan_percent', 'fan', '{:.0f}%'):>4}"
            f" {number('temperature_celsius', 'temperature', '{:.0f}C'):>5}"
            f"  {text('performance_state', 'performance state'):<7}"
            f" {number('power_watts', 'power', '{:.0f}W'):>9} /"
            f" {number('power_limit_watts', 'power limit', '{:.0f}W'):>7} ",
            f" {used:>10} /{total:>10} ",
            f" {busy:>7} {cut(compute, 12):>12} ",
        ),
        (
            f" {number('clock_sm_mhz', 'SM clock', '{:.0f}'):>5} /"
            f" {number('clock_sm_max_mhz', 'highest SM clock', '{:.0f}MHz'):>7}"
            f" {f'gen {_link(gpu, gaps)}':>23} ",
            f" {reserved:>10} {'reserved':<11} ",
            f" {_switch(None if mig is None else mig == 'on', 'Enabled', 'Disabled'):>20} ",
        ),
    )
    return ["|" + "|".join(row) + "|" for row in rows] + _note_rows(_notes(gpu, gaps))


def _note_rows(notes: list[str]) -> list[str]:
    wrapped = (
        textwrap.wrap(note, _INNER - 1, initial_indent=" " * 6, subsequent_indent=" " * 8) for note in notes
    )
    return [f"|{left(part, _INNER)}|" for parts in wrapped for part in parts]


def _gone_rows(gpu: Gpu, gone: Mapping[str, Any]) -> list[str]:
    name, bus = field(gpu, "name"), field(gpu, "pci_bus_id")
    shown = "" if is_missing(name) else left(short_name(plain(name), _NAME_ROOM), _NAME_ROOM)
    first = f" {gpu['index']:>3}  {shown}"
    second = "" if is_missing(bus) else f"   {plain(bus)}"
    notes = [f"[{why(gone)}] nothing of this card can be read now ({plain(gone['reason'])})"]
    return [
        f"|{left(first, _LEFT)}|{left(second, _MIDDLE)}|{'':{_RIGHT}}|",
        *_note_rows(notes + _xid_notes(gpu, Gaps())),
    ]


def _name(gpu: Gpu, gaps: Gaps) -> str:
    name = gaps.value(gpu, "name", "name")
    return left(NOTHING if name is None else short_name(plain(name), _NAME_ROOM), _NAME_ROOM)


def _switch(value: bool | None, on: str, off: str) -> str:
    return NOTHING if value is None else on if value else off


def _link(gpu: Gpu, gaps: Gaps) -> str:
    generation = gaps.value(gpu, "pcie_generation", "PCIe generation")
    lanes = gaps.value(gpu, "pcie_width", "PCIe width")
    shown = NOTHING if generation is None else f"{generation}"
    most = field(gpu, "pcie_generation_max")
    if generation is not None and not is_missing(most) and most != generation:
        shown += f" of {most}"
    return f"{shown} x{NOTHING if lanes is None else lanes}"


def _notes(gpu: Gpu, gaps: Gaps) -> list[str]:
    """What a person should know of a card beyond its figures; most cards have nothing."""
    notes = []
    reasons = [plain(word) for word in gaps.value(gpu, "throttle_reasons", "throttle reasons") or []]
    if held := [word for word in reasons if word != "idle"]:
        notes.append(f"clocks held down by: {', '.join(held)}")
    if ecc := _ecc_errors(gpu):
        notes.append(ecc)
    for name, words in (
        ("retired_pages_pending", "memory pages wait to be retired: reset the GPU"),
        ("remapped_rows_pending", "memory rows wait to be remapped: reset the GPU"),
        ("remapped_rows_failure", "remapping of memory rows FAILED: the card's memory is worn"),
    ):
        if field(gpu, name) is True:
            notes.append(words)
    return notes + _xid_notes(gpu, gaps)


def _xid_notes(gpu: Gpu, gaps: Gaps) -> list[str]:
    events = gaps.value(gpu, "xid", "XID errors") or []
    notes = []
    for event in events[-_XIDS_TOLD:]:
        at = datetime.fromtimestamp(float(event["t"])).strftime("%Y-%m-%d %H:%M:%S")
        notes.append(f"XID {event['code']} at {at}: {plain(event['text'])}")
    if len(events) > _XIDS_TOLD:
        notes.append(f"and {len(events) - _XIDS_TOLD} earlier XID errors")
    return notes


def _ecc_errors(gpu: Gpu) -> str | None:
    told = []
    for span, words in (("volatile", "since the driver was loaded"), ("aggregate", "in the card's life")):
        counts = [
            f"{count} {kind}"
            for kind in ("uncorrected", "corrected")
            if isinstance(count := field(gpu, f"ecc_{kind}_{span}"), int) and count > 0
        ]
        if counts:
            told.append(f"{' and '.join(counts)} {words}")
    return f"ECC errors: {'; '.join(told)}" if told else None
