"""A snapshot as Prometheus reads it: dcgm-exporter's metrics and labels, and `hopscope_*` for what it lacks.

A field without a value gives no sample, never 0: `hopscope_missing_fields` counts those by their state. Where
no news come from the sampler, nothing but that is told, so that old figures are not taken for new ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from prometheus_client import generate_latest
from prometheus_client.core import GaugeMetricFamily, UnknownMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from app.views.metric_names import DCGM_NAMES, HOST_NAMES, Name
from app.views.smi_processes import short_command
from probes.nvml.snapshot import is_missing
from probes.nvml.words import HARMFUL_REASONS
from runners.printable import encodable
from runners.version import VERSION

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
"""Of what `metrics_text` returns."""

_STATES = ("starting", "live", "stale", "stopped")
_CARD_LABELS = ("gpu", "UUID", "pci_bus_id", "device", "modelName", "Hostname", "DCGM_FI_DRIVER_VERSION")
_PROGRAM_ROOM = 64


def metrics_text(snapshot: Mapping[str, Any] | None, state: str, now: float) -> bytes:
    """The body of `/metrics`, to be sent as `CONTENT_TYPE`.

    `snapshot` and `state` are the monitor's (`runners.machine.monitor.shared()`), `now` is epoch seconds. The
    route: ``Response(metrics_text(monitor.snapshot, monitor.state, time.time()), media_type=CONTENT_TYPE)``.
    """
    told = _Told()
    told.add("hopscope_build_info", "Which Hopscope this is.", {"version": VERSION}, 1)
    for name in _STATES:
        told.add("hopscope_sampler_state", "Whether samples come.", {"state": name}, float(name == state))
    if snapshot is not None:
        age = max(0.0, now - float(snapshot["t"]))
        told.add("hopscope_sampler_age_seconds", "Since the newest sample.", {}, round(age, 3))
        told.add("hopscope_sampler_hz", "Samples a second.", {}, float(snapshot.get("hz", 0)))
        if state == "live":
            _tell_machine(told, snapshot)
    return generate_latest(told)


class _Told(Collector):
    """The metrics in the order in which they came, each with all its samples together."""

    def __init__(self) -> None:
        self._families: dict[str, GaugeMetricFamily | UnknownMetricFamily] = {}
        self._seen: set[tuple[str, ...]] = set()

    def add(
        self, name: str, text: str, labels: Mapping[str, str], value: float, counts: bool = False
    ) -> None:
        """Add a sample; all of one name have the same labels. One told twice counts once."""
        labels = {label: encodable(value) for label, value in labels.items()}
        key = (name, *labels.values())
        if key in self._seen:
            # Prometheus refuses all of a page that has the same series twice.
            return
        self._seen.add(key)
        if name not in self._families:
            # The library puts `_total` behind a counter's name, and DCGM's counters have other names.
            kind = UnknownMetricFamily if counts else GaugeMetricFamily
            self._families[name] = kind(name, text, labels=tuple(labels))
        self._families[name].add_metric(tuple(labels.values()), value)

    def collect(self) -> Iterable[Metric]:
        """All of them, for the library."""
        return self._families.values()


def _tell_machine(told: _Told, snapshot: Mapping[str, Any]) -> None:
    nvml = snapshot.get("nvml", "ok")
    problem = nvml if isinstance(nvml, Mapping) else {}
    labels = {"state": str(problem.get("state", "ok")), "reason": str(problem.get("reason", ""))}
    told.add("hopscope_nvml_up", "Whether NVML answers.", labels, float(not problem))
    told.add("hopscope_gpus", "GPUs that NVML counts.", {}, len(snapshot["gpus"]))
    for gpu in snapshot["gpus"]:
        _tell_card(told, gpu, _card_labels(gpu, snapshot))
    _tell_missing(told, snapshot["gpus"])
    _tell_fields(told, snapshot.get("host", {}), HOST_NAMES, {})


def _card_labels(gpu: Mapping[str, Any], snapshot: Mapping[str, Any]) -> dict[str, str]:
    values = (
        str(gpu["index"]),
        _text(gpu.get("uuid")),
        _text(gpu.get("pci_bus_id")),
        # As dcgm-exporter has it, by the card's number; the device file may have another.
        f"nvidia{gpu['index']}",
        _text(gpu.get("name")),
        _text(snapshot.get("host", {}).get("hostname")),
        _text(snapshot.get("driver")),
    )
    return dict(zip(_CARD_LABELS, values, strict=True))


def _text(value: Any) -> str:
    """A label's value; an empty one is the same to Prometheus as none."""
    return "" if value is None or is_missing(value) else str(value)


def _tell_card(told: _Told, gpu: Mapping[str, Any], labels: dict[str, str]) -> None:
    readable = not is_missing(gpu.get("unreadable"))
    told.add("hopscope_gpu_up", "Whether the card can be read.", labels, float(readable))
    events = gpu.get("xid", [])
    if isinstance(events, list):
        code, text = (events[-1]["code"], events[-1]["text"]) if events else (0, "No Error")
        told.add(
            "DCGM_FI_DEV_XID_ERRORS",
            "Value of the last XID error encountered.",
            labels | {"err_code": str(code), "err_msg": str(text)},
            float(code),
        )
    if not readable:
        return
    _tell_fields(told, gpu, DCGM_NAMES, labels)
    for reason in _listed(gpu, "throttle_reasons"):
        told.add(
            "hopscope_gpu_throttled",
            "Why the clocks are not higher: 1 for each reason that holds now.",
            labels | {"reason": str(reason)},
            1,
        )
    if isinstance(gpu.get("throttle_reasons"), list):
        harmed = any(reason in HARMFUL_REASONS for reason in gpu["throttle_reasons"])
        told.add(
            "hopscope_gpu_slowed",
            "Whether heat, power or a fault holds the clocks down: 1 or 0.",
            labels,
            float(harmed),
        )
    for instance in _listed(gpu, "mig"):
        sliced = {
            "GPU_I_PROFILE": _text(instance["name"]),
            "GPU_I_ID": _text(instance["gpu_instance"]),
            "compute_instance": _text(instance["compute_instance"]),
        }
        for field, what in (("memory_used_bytes", "used"), ("memory_total_bytes", "in all")):
            if not is_missing(instance[field]):
                text = f"Memory of a MIG instance {what}."
                told.add(f"hopscope_mig_{field}", text, labels | sliced, instance[field])
    for process in _listed(gpu, "processes"):
        _tell_process(told, process, labels)


def _tell_process(told: _Told, process: Mapping[str, Any], labels: dict[str, str]) -> None:
    who = {
        "pid": str(process["pid"]),
        "type": _text(process.get("type")),
        # A number of another container is none of this host's processes.
        "where": _text(process.get("where")),
        "user": _text(process.get("user")),
        # The program alone: arguments hold secrets, and would make a new series of every run.
        "program": short_command(_text(process.get("command"))).partition(" ")[0][:_PROGRAM_ROOM],
        "GPU_I_ID": _text(process.get("gpu_instance")),
    }
    for field, name, text in (
        ("memory_bytes", "hopscope_process_gpu_memory_bytes", "GPU memory of a process."),
        ("sm_percent", "hopscope_process_sm_percent", "A process' share of the multiprocessors (in %)."),
    ):
        value = process.get(field)
        if value is not None and not is_missing(value):
            told.add(name, text, labels | who, float(value))


def _tell_fields(
    told: _Told, row: Mapping[str, Any], names: Sequence[Name], labels: Mapping[str, str]
) -> None:
    for name in names:
        value = row.get(name.field)
        if value is None or is_missing(value):
            continue
        number = name.convert(value)
        if number is not None:
            told.add(name.metric, name.help, labels, number, name.counts)


def _tell_missing(told: _Told, gpus: Iterable[Mapping[str, Any]]) -> None:
    counts: dict[tuple[str, str], int] = {}
    for gpu in gpus:
        if is_missing(gpu.get("unreadable")):
            continue
        for field, value in gpu.items():
            if is_missing(value):
                key = (field, str(value["state"]))
                counts[key] = counts.get(key, 0) + 1
    for (field, state), count in sorted(counts.items()):
        told.add(
            "hopscope_missing_fields",
            "Readable cards on which a field has no value, by the field's name in devices --json.",
            {"field": field, "state": state},
            count,
        )


def _listed(gpu: Mapping[str, Any], name: str) -> list[Any]:
    value = gpu.get(name)
    return value if isinstance(value, list) else []
