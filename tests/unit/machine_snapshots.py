"""Snapshots of machines, written out: what the sampler would tell of them."""

from __future__ import annotations

from typing import Any

UNSUPPORTED = {"state": "unsupported", "reason": "NVML_ERROR_NOT_SUPPORTED"}
DENIED = {"state": "denied", "reason": "NVML_ERROR_NO_PERMISSION"}
LOST = {"state": "error", "reason": "NVML_ERROR_GPU_IS_LOST"}
ANOTHER = {"state": "unsupported", "reason": "a process of another container (PID namespace)"}
NO_DRIVER = {
    "state": "no-library",
    "reason": "NVML_ERROR_LIBRARY_NOT_FOUND",
    "text": "no NVIDIA driver is installed: its library libnvidia-ml.so.1 was not found",
}
MIB = 2**20
GIB = 2**30
T = 1767225600.25


def host(**fields: Any) -> dict[str, Any]:
    return {
        "hostname": "ws1",
        "cpu_percent": 12.4,
        "cpu_cores": 24,
        "load_1m": 3.2,
        "memory_total_bytes": 64 * GIB,
        "memory_used_bytes": 12 * GIB,
        "swap_used_bytes": 0,
        "uptime_seconds": 187_500.0,
        "pid_namespace": "initial",
    } | fields


def gpu(index: int = 0, **fields: Any) -> dict[str, Any]:
    """A healthy card at work, with every field that the sampler tells."""
    return {
        "index": index,
        "uuid": f"GPU-0000000{index}-aaaa-bbbb-cccc-dddddddddddd",
        "pci_bus_id": f"00000000:{0x41 + index:02X}:00.0",
        "name": "NVIDIA A100-SXM4-80GB",
        "serial": "1320000000001",
        "vbios": "92.00.9E.00.01",
        "architecture": "Ampere",
        "compute_capability": "8.0",
        "minor_number": index,
        "memory_total_bytes": 81920 * MIB,
        "memory_used_bytes": 20480 * MIB,
        "memory_reserved_bytes": 623 * MIB,
        "memory_free_bytes": 60817 * MIB,
        "power_limit_default_watts": 400.0,
        "power_limit_max_watts": 400.0,
        "power_limit_watts": 400.0,
        "power_watts": 251.37,
        "energy_joules": 1234.5,
        "clock_sm_max_mhz": 1410,
        "clock_memory_max_mhz": 1593,
        "clock_graphics_max_mhz": 1410,
        "clock_video_max_mhz": 1290,
        "clock_sm_mhz": 1275,
        "clock_memory_mhz": 1593,
        "clock_graphics_mhz": 1275,
        "clock_video_mhz": 1150,
        "pcie_generation_max": 4,
        "pcie_width_max": 16,
        "pcie_generation": 4,
        "pcie_width": 16,
        "pcie_tx_bytes_per_second": 1_048_576,
        "pcie_rx_bytes_per_second": 2_097_152,
        "temperature_slowdown_celsius": 89,
        "temperature_shutdown_celsius": 92,
        "temperature_celsius": 61,
        "temperature_memory_celsius": 70,
        "numa_node": 0,
        "cpu_affinity": "0-23",
        "utilization_gpu_percent": 57,
        "utilization_memory_percent": 31,
        "performance_state": "P0",
        "throttle_reasons": [],
        "fan_percent": 30,
        "encoder_percent": 0,
        "decoder_percent": 0,
        "compute_mode": "default",
        "persistence_mode": True,
        "ecc_mode": True,
        "ecc_corrected_volatile": 0,
        "ecc_uncorrected_volatile": 0,
        "ecc_corrected_aggregate": 0,
        "ecc_uncorrected_aggregate": 0,
        "retired_pages_pending": False,
        "remapped_rows_pending": False,
        "remapped_rows_failure": False,
        "mig_mode": "off",
        "mig": [],
        "nvlinks": 2,
        "nvlink": [
            {
                "link": 0,
                "state": "up",
                "version": 3,
                "remote_pci_bus_id": "00000000:42:00.0",
                "switch": False,
            },
            {"link": 1, "state": "down", "version": None, "remote_pci_bus_id": None},
        ],
        "nvlink_tx_bytes_per_second": 5_000_000,
        "nvlink_rx_bytes_per_second": 6_000_000,
        "processes": [],
        "xid": [],
        "unreadable": None,
    } | fields


def lost_gpu(index: int, **fields: Any) -> dict[str, Any]:
    """A card that fell off the bus: what it is stays known, nothing else is."""
    whole = gpu(index)
    kept = ("index", "uuid", "pci_bus_id", "name", "memory_total_bytes")
    return {name: whole[name] if name in kept else LOST for name in whole} | {"unreadable": LOST} | fields


def process(pid: int = 4242, **fields: Any) -> dict[str, Any]:
    return {
        "pid": pid,
        "type": "C",
        "where": "here",
        "user": "alice",
        "command": "/usr/bin/python3 train.py --epochs 3",
        "memory_bytes": 1024 * MIB,
        "sm_percent": 55,
        "gpu_instance": None,
    } | fields


def elsewhere(pid: int, **fields: Any) -> dict[str, Any]:
    return process(pid, where="elsewhere", user=ANOTHER, command=ANOTHER, **fields)


def machine(*gpus: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A snapshot of a machine with these cards."""
    level = {"level": "node", "short": "NODE", "nvlinks": 0}
    peer = {"read": "ok", "write": "ok", "nvlink": "not supported", "atomics": "not supported"}
    return {
        "seq": 7,
        "t": T,
        "hz": 1.0,
        "driver": "570.86.15",
        "cuda_driver": "12.8",
        "nvml": "ok",
        "gpus": list(gpus),
        "topology": [[level for _ in gpus] for _ in gpus],
        "p2p": [[peer for _ in gpus] for _ in gpus],
        "host": host(),
    } | fields


def without_gpus(**fields: Any) -> dict[str, Any]:
    """A snapshot of a machine without an NVIDIA driver."""
    no_driver = {"state": "unsupported", "reason": "no driver"}
    return machine(nvml=NO_DRIVER, driver=no_driver, cuda_driver=no_driver) | fields


def silent_gpu(index: int, **fields: Any) -> dict[str, Any]:
    """A card of which nothing is told, not even what it is."""
    return dict.fromkeys(gpu(index), LOST) | {"index": index} | fields
