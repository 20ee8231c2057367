"""The control file's layout, told once: a ctypes structure for Python, and C text of the same."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

MAX_GPUS = 16
MAX_LINKS = 18
MAX_PROCESSES = 64
MAX_INSTANCES = 8
MAX_XIDS = 64
MAX_FIELDS = 512
P2P_KINDS = 5
NONE = -(2**63)
"""A number that is unsupported."""
NOT_CONNECTED = -1
SWITCH = -2
"""What is at the other end of an NVLink, if it is no GPU."""

PROCESS_NUMBERS = (
    "pid",
    "memory",
    "kinds",  # 1 compute, 2 graphics, 4 MPS
    "sm",
    "memory_utilization",
    "encoder",
    "decoder",
    "gpu_instance",
    "compute_instance",
)

INSTANCE_NUMBERS = (
    "gpu_instance",
    "compute_instance",
    "memory_total",
    "memory_used",
    "multiprocessors",
    "gpu_slices",
    "compute_slices",
)

GPU_NUMBERS = (
    "removed",
    "fault",  # every call that takes this GPU's handle gives it
    # load
    "utilization_gpu",
    "utilization_memory",
    "encoder",
    "decoder",
    "jpeg",
    "ofa",
    # memory, bytes
    "memory_total",
    "memory_reserved",
    "memory_used",
    "bar1_total",
    "bar1_used",
    # temperatures, Celsius
    "temperature",
    "temperature_memory",
    "temperature_slowdown",
    "temperature_shutdown",
    "temperature_gpu_max",
    "temperature_memory_max",
    # milliwatts, millijoules
    "power",
    "power_limit",
    "power_limit_enforced",
    "power_limit_default",
    "power_limit_min",
    "power_limit_max",
    "energy",
    # MHz
    "clock_graphics",
    "clock_sm",
    "clock_memory",
    "clock_video",
    "clock_graphics_max",
    "clock_sm_max",
    "clock_memory_max",
    "clock_video_max",
    "fan",  # per cent
    "fans",
    "performance_state",
    "clocks_event_reasons",
    # memory that failed
    "ecc_mode",
    "ecc_mode_pending",
    "ecc_corrected_volatile",
    "ecc_uncorrected_volatile",
    "ecc_corrected_aggregate",
    "ecc_uncorrected_aggregate",
    "retired_corrected",
    "retired_uncorrected",
    "retired_pending",
    "remapped_corrected",
    "remapped_uncorrected",
    "remapped_pending",
    "remapped_failure",
    # PCI Express; KB/s
    "pcie_generation",
    "pcie_generation_max",
    "pcie_generation_device_max",
    "pcie_width",
    "pcie_width_max",
    "pcie_tx",
    "pcie_rx",
    "pcie_replay",
    # NVLink; the counters in KiB grow by the rates, KiB/s
    "nvlink_version",
    "nvlink_speed",  # MB/s a link
    "nvlink_tx",
    "nvlink_rx",
    "nvlink_tx_rate",
    "nvlink_rx_rate",
    # modes
    "compute_mode",
    "persistence_mode",
    "mig_mode",
    "mig_mode_pending",
    "display_mode",
    "display_active",
    "process_utilization",  # None: NOT_SUPPORTED
    "events_supported",
    # what it is
    "architecture",
    "brand",
    "compute_major",
    "compute_minor",
    "cores",
    "multiprocessors",
    "memory_bus_width",
    "minor_number",
    "numa_node",
    "cpu_first",
    "cpu_last",
    "pci_domain",
    "pci_bus",
    "pci_device",
    "pci_device_id",
    "pci_subsystem_id",
    "cuda_speed",  # CUDA's FASTEST_FIRST goes by this
)

GPU_STRINGS = {"name": 96, "uuid": 96, "serial": 32, "vbios": 32, "part_number": 80, "inforom": 16}

GLOBAL_NUMBERS = (
    "magic",
    "gpus",
    "driver_generation",
    "animated",
    "cuda_version",
    "xid_count",  # ever raised; the ring holds the last of them
)

GLOBAL_STRINGS = {"driver_version": 80, "nvml_version": 80}

MAGIC = 0x4E564D4C_0001


class Process(ctypes.Structure):
    _fields_ = [(name, ctypes.c_longlong) for name in PROCESS_NUMBERS]


class Instance(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_longlong) for name in INSTANCE_NUMBERS),
        ("name", ctypes.c_char * 32),
        ("uuid", ctypes.c_char * 96),
    ]


class Xid(ctypes.Structure):
    _fields_ = [("gpu", ctypes.c_longlong), ("code", ctypes.c_longlong)]


class Gpu(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_longlong) for name in GPU_NUMBERS),
        *((name, ctypes.c_char * size) for name, size in GPU_STRINGS.items()),
        ("process_count", ctypes.c_longlong),
        ("processes", Process * MAX_PROCESSES),
        ("instance_count", ctypes.c_longlong),
        ("instances", Instance * MAX_INSTANCES),
        ("link_count", ctypes.c_longlong),
        ("link_peer", ctypes.c_longlong * MAX_LINKS),
        ("link_up", ctypes.c_longlong * MAX_LINKS),
        ("topology", ctypes.c_longlong * MAX_GPUS),
        ("p2p", (ctypes.c_longlong * P2P_KINDS) * MAX_GPUS),
        ("field_fault", ctypes.c_int * MAX_FIELDS),
    ]


class Function(ctypes.Structure):
    """How one function behaves; the last place of each array is for all GPUs and for calls without one."""

    _fields_ = [
        ("calls", ctypes.c_longlong),
        ("delay_microseconds", ctypes.c_longlong),
        ("fault", ctypes.c_int * (MAX_GPUS + 1)),
        ("hang", ctypes.c_int * (MAX_GPUS + 1)),
    ]


def control_type(functions: int) -> type[ctypes.Structure]:
    """The whole control file, with places for so many functions."""

    class Control(ctypes.Structure):
        _fields_ = [
            *((name, ctypes.c_longlong) for name in GLOBAL_NUMBERS),
            *((name, ctypes.c_char * size) for name, size in GLOBAL_STRINGS.items()),
            ("started", ctypes.c_double),
            ("xids", Xid * MAX_XIDS),
            ("gpu", Gpu * MAX_GPUS),
            ("function", Function * functions),
        ]

    return Control


def header(functions: Sequence[str]) -> str:
    """The same layout as C text, with a number for each function: `F_nvmlInit_v2`."""
    control = control_type(len(functions))
    lines = [
        "#pragma once",
        f"#define MAX_GPUS {MAX_GPUS}",
        f"#define MAX_LINKS {MAX_LINKS}",
        f"#define MAX_PROCESSES {MAX_PROCESSES}",
        f"#define MAX_INSTANCES {MAX_INSTANCES}",
        f"#define MAX_XIDS {MAX_XIDS}",
        f"#define MAX_FIELDS {MAX_FIELDS}",
        f"#define P2P_KINDS {P2P_KINDS}",
        "#define NONE (-9223372036854775807LL - 1)",
        f"#define NOT_CONNECTED {NOT_CONNECTED}",
        f"#define SWITCH {SWITCH}",
        f"#define MAGIC {MAGIC}LL",
        "enum {",
        *(f"    F_{name} = {number}," for number, name in enumerate(functions)),
        "};",
    ]
    for structure, name in (
        (Process, "process_t"),
        (Instance, "instance_t"),
        (Xid, "xid_t"),
        (Gpu, "gpu_t"),
        (Function, "function_t"),
        (control, "control_t"),
    ):
        lines += ["typedef struct {", *_members(structure), f"}} {name};"]
        lines.append(f'_Static_assert(sizeof({name}) == {ctypes.sizeof(structure)}, "{name}");')
    return "\n".join(lines) + "\n"


_C_TYPES: dict[Any, str] = {
    ctypes.c_longlong: "long long",
    ctypes.c_int: "int",
    ctypes.c_char: "char",
    ctypes.c_double: "double",
    Process: "process_t",
    Instance: "instance_t",
    Xid: "xid_t",
    Gpu: "gpu_t",
    Function: "function_t",
}


def _members(structure: type[ctypes.Structure]) -> list[str]:
    members = []
    for field in structure._fields_:
        kind: Any = field[1]
        places = ""
        while isinstance(kind, type) and issubclass(kind, ctypes.Array):
            places += f"[{kind._length_}]"
            kind = kind._type_
        members.append(f"    {_C_TYPES[kind]} {field[0]}{places};")
    return members
