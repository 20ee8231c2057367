"""The fields of a GPU: the call that reads each, the unit it is told in, and how often it is worth asking.

Units stand in the names: NVML's milliwatts, millijoules and kilobytes become watts, joules and bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable, NamedTuple

from . import words
from .calls import Nvml, text_of
from .missing import FUNCTION_NOT_FOUND, UNSUPPORTED, absent, is_missing, missing

_GPU_SENSOR = 0
_GRAPHICS, _SM, _MEMORY, _VIDEO = 0, 1, 2, 3
_SHUTDOWN, _SLOWDOWN = 0, 1
_CORRECTED, _UNCORRECTED = 0, 1
_VOLATILE, _AGGREGATE = 0, 1
_CPU_WORDS = 16
"""64-bit words asked for of a card's CPU affinity: 1,024 processors."""
_NUMA_UNKNOWN = 0xFFFFFFFF
_NOT_FOUND = missing(FUNCTION_NOT_FOUND)

Convert = Callable[[Any], Any]


class Field(NamedTuple):
    """One field, its call, the call's arguments after the handle, and what makes the value of the answer."""

    name: str
    call: str
    arguments: tuple[Any, ...] = ()
    convert: Convert = text_of
    newer: str = ""
    """The call that takes the place of an old one which a driver may have dropped."""


class Several(NamedTuple):
    """Fields that one call answers together; `convert` gives their values in order."""

    names: tuple[str, ...]
    call: str
    arguments: tuple[Any, ...]
    convert: Callable[[Any], Sequence[Any]]


def _milli(value: int) -> float:
    return value / 1000


def _version(pair: Any) -> str:
    return f"{pair[0]}.{pair[1]}"


def _on(value: Any) -> bool:
    return bool(value)


def _first_on(pair: Any) -> bool:
    return bool(pair[0])


def _first(pair: Any) -> Any:
    return pair[0]


def _affinity(value: Any) -> str:
    bits = 0
    for place, word in enumerate(value):
        bits |= int(word) << (64 * place)
    return words.cpu_list(bits)


def _numa(value: int) -> Any:
    return absent("the machine has no NUMA nodes") if value in (-1, _NUMA_UNKNOWN) else value


STATIC = (
    Field("uuid", "nvmlDeviceGetUUID"),
    Field("pci_bus_id", "nvmlDeviceGetPciInfo_v3", (), lambda info: text_of(info.busId)),
    Field("name", "nvmlDeviceGetName"),
    Field("serial", "nvmlDeviceGetSerial"),
    Field("vbios", "nvmlDeviceGetVbiosVersion"),
    Field("architecture", "nvmlDeviceGetArchitecture", (), words.architecture),
    Field("compute_capability", "nvmlDeviceGetCudaComputeCapability", (), _version),
    Field("minor_number", "nvmlDeviceGetMinorNumber"),
    Field("power_limit_default_watts", "nvmlDeviceGetPowerManagementDefaultLimit", (), _milli),
    Field(
        "power_limit_max_watts", "nvmlDeviceGetPowerManagementLimitConstraints", (), lambda x: _milli(x[1])
    ),
    Field("clock_sm_max_mhz", "nvmlDeviceGetMaxClockInfo", (_SM,)),
    Field("clock_memory_max_mhz", "nvmlDeviceGetMaxClockInfo", (_MEMORY,)),
    Field("clock_graphics_max_mhz", "nvmlDeviceGetMaxClockInfo", (_GRAPHICS,)),
    Field("clock_video_max_mhz", "nvmlDeviceGetMaxClockInfo", (_VIDEO,)),
    Field("pcie_generation_max", "nvmlDeviceGetMaxPcieLinkGeneration"),
    Field("pcie_width_max", "nvmlDeviceGetMaxPcieLinkWidth"),
    Field("temperature_slowdown_celsius", "nvmlDeviceGetTemperatureThreshold", (_SLOWDOWN,)),
    Field("temperature_shutdown_celsius", "nvmlDeviceGetTemperatureThreshold", (_SHUTDOWN,)),
    Field("numa_node", "nvmlDeviceGetNumaNodeId", (), _numa),
    Field("cpu_affinity", "nvmlDeviceGetCpuAffinity", (_CPU_WORDS,), _affinity),
)
"""Asked once, and again after a card was gone."""

FAST = (
    Several(
        ("utilization_gpu_percent", "utilization_memory_percent"),
        "nvmlDeviceGetUtilizationRates",
        (),
        lambda rates: (rates.gpu, rates.memory),
    ),
    # The older names of these two calls are there from the first drivers on; the newer need a recent one.
    Field(
        "temperature_celsius",
        "nvmlDeviceGetTemperature",
        (_GPU_SENSOR,),
        newer="nvmlDeviceGetTemperatureV",
    ),
    Field("power_watts", "nvmlDeviceGetPowerUsage", (), _milli),
    Field("clock_sm_mhz", "nvmlDeviceGetClockInfo", (_SM,)),
    Field("clock_memory_mhz", "nvmlDeviceGetClockInfo", (_MEMORY,)),
    Field("performance_state", "nvmlDeviceGetPerformanceState", (), words.performance_state),
    Field(
        "throttle_reasons",
        "nvmlDeviceGetCurrentClocksThrottleReasons",
        (),
        words.throttle_reasons,
        newer="nvmlDeviceGetCurrentClocksEventReasons",
    ),
)
"""Asked at each tick."""

STEADY = (
    Field("clock_graphics_mhz", "nvmlDeviceGetClockInfo", (_GRAPHICS,)),
    Field("clock_video_mhz", "nvmlDeviceGetClockInfo", (_VIDEO,)),
    Field("fan_percent", "nvmlDeviceGetFanSpeed"),
    Field("pcie_generation", "nvmlDeviceGetCurrPcieLinkGeneration"),
    Field("pcie_width", "nvmlDeviceGetCurrPcieLinkWidth"),
    Field("encoder_percent", "nvmlDeviceGetEncoderUtilization", (), _first),
    Field("decoder_percent", "nvmlDeviceGetDecoderUtilization", (), _first),
    Field("power_limit_watts", "nvmlDeviceGetEnforcedPowerLimit", (), _milli),
)
"""Asked once in two seconds."""

SELDOM = (
    Field("compute_mode", "nvmlDeviceGetComputeMode", (), words.compute_mode),
    Field("persistence_mode", "nvmlDeviceGetPersistenceMode", (), _on),
    Field("ecc_mode", "nvmlDeviceGetEccMode", (), _first_on),
    Field("ecc_corrected_volatile", "nvmlDeviceGetTotalEccErrors", (_CORRECTED, _VOLATILE)),
    Field("ecc_uncorrected_volatile", "nvmlDeviceGetTotalEccErrors", (_UNCORRECTED, _VOLATILE)),
    Field("ecc_corrected_aggregate", "nvmlDeviceGetTotalEccErrors", (_CORRECTED, _AGGREGATE)),
    Field("ecc_uncorrected_aggregate", "nvmlDeviceGetTotalEccErrors", (_UNCORRECTED, _AGGREGATE)),
    Field("retired_pages_pending", "nvmlDeviceGetRetiredPagesPendingStatus", (), _on),
    Several(
        ("remapped_rows_pending", "remapped_rows_failure"),
        "nvmlDeviceGetRemappedRows",
        (),
        lambda rows: (bool(rows[2]), bool(rows[3])),
    ),
    Field("mig_mode", "nvmlDeviceGetMigMode", (), lambda modes: "on" if modes[0] else "off"),
)
"""Asked once in ten seconds."""

OTHERS = (
    "memory_total_bytes",
    "memory_used_bytes",
    "memory_reserved_bytes",
    "memory_free_bytes",
    "energy_joules",
    "temperature_memory_celsius",
    "pcie_tx_bytes_per_second",
    "pcie_rx_bytes_per_second",
    "nvlink_tx_bytes_per_second",
    "nvlink_rx_bytes_per_second",
    "nvlinks",
    "nvlink",
    "mig",
    "processes",
    "xid",
)
"""Those that take more than one call, or a memory of what was before."""


def names(fields: Sequence[Any]) -> list[str]:
    """Return the names of fields in their order."""
    found: list[str] = []
    for field in fields:
        found += field.names if isinstance(field, Several) else [field.name]
    return found


def failed(fields: Sequence[Any], row: dict[str, Any]) -> list[Any]:
    """Return those of the fields that may have a value at another time: they have none, but are supported."""
    return [field for field in fields if _may_yet(row.get(names([field])[0]))]


def _may_yet(value: Any) -> bool:
    return is_missing(value) and value["state"] != UNSUPPORTED


ALL_NAMES = (*names(STATIC), *names(FAST), *names(STEADY), *names(SELDOM), *OTHERS)


def read(nvml: Nvml, handle: Any, fields: Sequence[Any], into: dict[str, Any]) -> None:
    """Ask for fields of one card and put each value, or why there is none, into `into`."""
    for field in fields:
        answer = nvml.ask(field.call, handle, *field.arguments)
        if isinstance(field, Field) and field.newer and answer == _NOT_FOUND:
            answer = nvml.ask(field.newer, handle, *field.arguments)
        if is_missing(answer):
            for name in field.names if isinstance(field, Several) else (field.name,):
                into[name] = answer
        elif isinstance(field, Several):
            into.update(zip(field.names, field.convert(answer)))
        else:
            into[field.name] = field.convert(answer)
