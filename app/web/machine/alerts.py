"""What of a machine's state a person would want to be told without looking for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypedDict

from app.views import units
from probes.nvml.missing import is_missing
from probes.nvml.words import HARMFUL_REASONS
from runners.environments.frameworks import FRAMEWORKS

NEARLY_FULL = 0.95
"""Share of a card's memory from which on an allocation may soon fail."""
IDLE_AFTER_S = 300.0
IDLE_BYTES = 256 << 20
HOT_MARGIN_C = 3
XID_FOR_S = 3600.0
XID_FRESH_S = 600.0
"""How long an XID error is told as an error; until it is told no more it is a warning."""
MOST_HOLDERS = 8
"""How many idle holders of memory are told one by one."""

_URGENCY = (
    "driver-gone",
    "gpu-lost",
    "gpu-gone",
    "xid",
    "ecc",
    "remap-failure",
    "throttling",
    "hot",
    "memory-full",
    "remap-pending",
    "pcie-narrow",
    "idle-holder",
    "ended-holder",
)
Severity = Literal["error", "warning", "info"]


class Alert(TypedDict):
    """One thing to know; `gpu` is NVML's index, None where it is about the machine."""

    code: str
    severity: Severity
    gpu: int | None
    text: str
    advice: str


class Watcher:
    """Looks at one snapshot after another; it remembers what takes time to be sure of."""

    def __init__(self) -> None:
        self._idle_since: dict[tuple[str, int], float] = {}
        self._seen: dict[str, tuple[int, str]] = {}
        self._lost_since: dict[int, float] = {}

    def look(self, snapshot: Mapping[str, Any]) -> list[Alert]:
        """Return what is to be told now, the worst first; `t` of the snapshots is their clock."""
        now = snapshot["t"]
        found = [*self._gone(snapshot)]
        lost = {gpu["index"] for gpu in snapshot["gpus"] if gpu["unreadable"]}
        self._lost_since = {index: min(self._lost_since.get(index, now), now) for index in lost}
        for gpu in snapshot["gpus"]:
            found += card_alerts(gpu, now, self._lost_since.get(gpu["index"], now))
        found += self._holders(snapshot)
        order = {"error": 0, "warning": 1, "info": 2}
        return sorted(found, key=lambda alert: (order[alert["severity"]], _URGENCY.index(alert["code"])))

    def _gone(self, snapshot: Mapping[str, Any]) -> Iterator[Alert]:
        """Cards that were there before and are not even listed now."""
        present = {gpu["uuid"]: gpu for gpu in snapshot["gpus"] if not is_missing(gpu["uuid"])}
        lost = {gpu["index"] for gpu in snapshot["gpus"] if is_missing(gpu["uuid"])}
        nvml = snapshot["nvml"]
        if self._seen and nvml != "ok":
            advice = (
                "The page goes on by itself once the driver answers; running programs keep what they have."
            )
            yield _alert("driver-gone", "error", None, f"No GPU can be read: {nvml['text']}.", advice)
            return
        for uuid, (index, name) in self._seen.items():
            if uuid not in present and index not in lost:
                text = f"GPU {index} ({name}, {uuid}) was here and is not listed any more."
                advice = "See the kernel's log (dmesg | grep -i nvidia) for why it left."
                yield _alert("gpu-gone", "error", index, text, advice)
        self._seen |= {
            uuid: (gpu["index"], str(gpu["name"])) for uuid, gpu in present.items() if not gpu["unreadable"]
        }

    def _holders(self, snapshot: Mapping[str, Any]) -> list[Alert]:
        """Processes that have held memory for minutes without a single kernel."""
        now = snapshot["t"]
        idle: dict[tuple[str, int], float] = {}
        found: list[Alert] = []
        for gpu in snapshot["gpus"]:
            if is_missing(gpu["uuid"]) or not isinstance(gpu["processes"], list):
                continue
            for process in gpu["processes"]:
                if not _holds_idly(gpu, process):
                    continue
                key = (gpu["uuid"], process["pid"])
                since = idle[key] = min(self._idle_since.get(key, now), now)
                if now - since >= IDLE_AFTER_S:
                    found.append(_holder(gpu, process, now - since))
        self._idle_since = idle
        if len(found) <= MOST_HOLDERS:
            return found
        rest = len(found) - MOST_HOLDERS
        more = f"{rest} more processes hold memory and do nothing."
        return [
            *found[:MOST_HOLDERS],
            _alert("idle-holder", "info", None, more, "The process table has them all."),
        ]


def card_alerts(gpu: Mapping[str, Any], now: float, lost_since: float) -> list[Alert]:
    """Return what one card's row tells; `now`, and since when it could not be read, in epoch seconds."""
    index, device = gpu["index"], _device(gpu)
    if gpu["unreadable"]:
        long = f" for {units.duration(now - lost_since)}" if now - lost_since >= 1 else ""
        text = f"{device} could not be read{long}: {gpu['unreadable']['reason']}."
        advice = (
            "Its programs are lost. See dmesg for XID errors; nvidia-smi -r, or a restart, may bring it back."
        )
        return [_alert("gpu-lost", "error", index, text, advice), *_xids(gpu, now)]
    return [*_xids(gpu, now), *_faults(gpu), *_limits(gpu)]


def _xids(gpu: Mapping[str, Any], now: float) -> Iterator[Alert]:
    events = gpu["xid"] if isinstance(gpu["xid"], list) else []
    recent = [event for event in events if now - event["t"] <= XID_FOR_S]
    if recent:
        last = recent[-1]
        ago = units.duration(max(0.0, now - last["t"]))
        often = f" ({len(recent)} in the last hour)" if len(recent) > 1 else ""
        text = f"{_device(gpu)} reported XID {last['code']}, {last['text']}, {ago} ago{often}."
        severity: Severity = "error" if now - last["t"] <= XID_FRESH_S else "warning"
        yield _alert("xid", severity, gpu["index"], text, "NVIDIA's list of XID errors says what to do.")


def _faults(gpu: Mapping[str, Any]) -> Iterator[Alert]:
    index, device = gpu["index"], _device(gpu)
    uncorrected = gpu["ecc_uncorrected_volatile"]
    if isinstance(uncorrected, int) and uncorrected > 0:
        errors = units.plural(uncorrected, "memory error")
        text = f"{device} has had {errors} that ECC could not correct, since the driver was loaded."
        yield _alert("ecc", "error", index, text, "Results since may be wrong. Reset the card; test it.")
    if gpu["remapped_rows_failure"] is True:
        text = f"{device} has no spare memory rows left to replace a faulty one."
        yield _alert("remap-failure", "error", index, text, "The card should be replaced.")
    if gpu["remapped_rows_pending"] is True or gpu["retired_pages_pending"] is True:
        text = f"{device} waits for a reset to stop using faulty memory."
        yield _alert("remap-pending", "warning", index, text, "Reset it (nvidia-smi -r) when it is idle.")
    reasons = gpu["throttle_reasons"]
    harmful = [one for one in reasons if one in HARMFUL_REASONS] if isinstance(reasons, list) else []
    if harmful:
        text = f"{device} runs below its clocks: {', '.join(harmful)}{_clocks(gpu)}."
        advice = "See to its cooling and its power supply; steps will take longer meanwhile."
        yield _alert("throttling", "warning", index, text, advice)


def _limits(gpu: Mapping[str, Any]) -> Iterator[Alert]:
    index, device = gpu["index"], _device(gpu)
    total, free = gpu["memory_total_bytes"], gpu["memory_free_bytes"]
    if _numbers(total, free) and total > 0 and 1 - free / total >= NEARLY_FULL:
        text = f"{device} has {units.size(free)} of {units.size(total)} free."
        habits = (one.memory_habit for one in FRAMEWORKS.values() if one.memory_habit)
        advice = " ".join(["The next allocation may fail.", *habits])
        yield _alert("memory-full", "warning", index, text, advice)
    heat, limit = gpu["temperature_celsius"], gpu["temperature_slowdown_celsius"]
    if _numbers(heat, limit) and limit > 0 and heat >= limit - HOT_MARGIN_C:
        text = f"{device} is at {heat:g} °C; it slows down at {limit:g} °C."
        yield _alert("hot", "warning", index, text, "See to its cooling.")
    width, most, busy = gpu["pcie_width"], gpu["pcie_width_max"], gpu["utilization_gpu_percent"]
    if _numbers(width, most, busy) and busy > 0 and 0 < width < most:
        text = f"{device} uses {width} of {most} PCIe lanes."
        advice = "Copies to and from the host take longer: see to its seat, riser or the slot's settings."
        yield _alert("pcie-narrow", "warning", index, text, advice)


def _holds_idly(gpu: Mapping[str, Any], process: Mapping[str, Any]) -> bool:
    memory, share = process["memory_bytes"], process["sm_percent"]
    if not _numbers(memory) or memory < IDLE_BYTES or "C" not in process["type"]:
        return False
    # Where the driver does not tell a process's share, an idle card answers for all of its processes.
    activity = gpu["utilization_gpu_percent"] if is_missing(share) else share
    return _numbers(activity) and bool(activity == 0)


def _holder(gpu: Mapping[str, Any], process: Mapping[str, Any], idle_s: float) -> Alert:
    memory, device, pid = units.size(process["memory_bytes"]), _device(gpu), process["pid"]
    if process["where"] == "gone":
        text = f"PID {pid} has ended, but the driver still counts {memory} of {device} to it."
        advice = "Something that it started may still use the card: fuser -v /dev/nvidia* names who does."
        return _alert("ended-holder", "info", gpu["index"], text, advice)
    who = f"PID {pid}"
    if not is_missing(process["command"]):
        command = str(process["command"])
        who += f" ({process['user']}: {command if len(command) <= 60 else command[:59] + '…'})"
    elif process["where"] == "elsewhere":
        who += " of another container"
    text = f"{who} holds {memory} of {device} and has done nothing for {units.duration(idle_s)}."
    advice = "A notebook or a stopped job often does; ask its owner, or end it."
    return _alert("idle-holder", "info", gpu["index"], text, advice)


def _device(gpu: Mapping[str, Any]) -> str:
    """As nvidia-smi counts it: ``gpu:0`` is a framework's own number."""
    return f"GPU {gpu['index']}"


def _clocks(gpu: Mapping[str, Any]) -> str:
    now, most = gpu["clock_sm_mhz"], gpu["clock_sm_max_mhz"]
    return f" ({now:,} of {most:,} MHz)" if _numbers(now, most) else ""


def _numbers(*values: Any) -> bool:
    return all(isinstance(value, (int, float)) for value in values)


def _alert(code: str, severity: Severity, gpu: int | None, text: str, advice: str) -> Alert:
    return {"code": code, "severity": severity, "gpu": gpu, "text": text, "advice": advice}
