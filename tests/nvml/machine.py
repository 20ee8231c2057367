"""The double's GPUs unless told otherwise: all alike, fours on a socket, pairs joined by NVLink."""

from __future__ import annotations

from collections.abc import Callable

GIB = 2**30

GPU: dict[str, Callable[[int], int | None] | int | None] = {
    "removed": 0,
    "fault": 0,
    "utilization_gpu": lambda gpu: 10 * gpu + 5,
    "utilization_memory": lambda gpu: 5 * gpu + 3,
    "encoder": 0,
    "decoder": 0,
    "jpeg": 0,
    "ofa": 0,
    "memory_total": 80 * GIB,
    "memory_reserved": GIB // 2,
    "memory_used": lambda gpu: (gpu + 1) * 4 * GIB,
    "bar1_total": 128 * GIB,
    "bar1_used": 4 * 2**20,
    "temperature": lambda gpu: 35 + gpu,
    "temperature_memory": lambda gpu: 40 + gpu,
    "temperature_slowdown": 89,
    "temperature_shutdown": 92,
    "temperature_gpu_max": 85,
    "temperature_memory_max": 95,
    "power": lambda gpu: 65_000 + 10_000 * gpu,
    "power_limit": 400_000,
    "power_limit_enforced": 400_000,
    "power_limit_default": 400_000,
    "power_limit_min": 100_000,
    "power_limit_max": 400_000,
    "energy": lambda gpu: 1_000_000_000 + gpu,
    "clock_graphics": 1275,
    "clock_sm": 1275,
    "clock_memory": 1593,
    "clock_video": 1170,
    "clock_graphics_max": 1410,
    "clock_sm_max": 1410,
    "clock_memory_max": 1593,
    "clock_video_max": 1290,
    # Server cards have none of their own.
    "fan": None,
    "fans": 0,
    "performance_state": 0,
    "clocks_event_reasons": 0,
    "ecc_mode": 1,
    "ecc_mode_pending": 1,
    "ecc_corrected_volatile": 0,
    "ecc_uncorrected_volatile": 0,
    "ecc_corrected_aggregate": 0,
    "ecc_uncorrected_aggregate": 0,
    # Row remapping has taken their place since Ampere.
    "retired_corrected": None,
    "retired_uncorrected": None,
    "retired_pending": None,
    "remapped_corrected": 0,
    "remapped_uncorrected": 0,
    "remapped_pending": 0,
    "remapped_failure": 0,
    "pcie_generation": 4,
    "pcie_generation_max": 4,
    "pcie_generation_device_max": 4,
    "pcie_width": 16,
    "pcie_width_max": 16,
    "pcie_tx": lambda gpu: 1000 * (gpu + 1),
    "pcie_rx": lambda gpu: 2000 * (gpu + 1),
    "pcie_replay": 0,
    "nvlink_version": 4,  # NVML_NVLINK_VERSION_3_0
    "nvlink_speed": 25_000,
    "nvlink_tx": 0,
    "nvlink_rx": 0,
    "nvlink_tx_rate": 0,
    "nvlink_rx_rate": 0,
    "compute_mode": 0,
    "persistence_mode": 1,
    "mig_mode": 0,
    "mig_mode_pending": 0,
    "display_mode": 0,
    "display_active": 0,
    "process_utilization": 1,
    "events_supported": 0x1 | 0x2 | 0x4 | 0x8 | 0x10,
    "architecture": 7,  # NVML_DEVICE_ARCH_AMPERE
    "brand": 14,  # NVML_BRAND_NVIDIA
    "compute_major": 8,
    "compute_minor": 0,
    "cores": 6912,
    "multiprocessors": 108,
    "memory_bus_width": 5120,
    "minor_number": lambda gpu: gpu,
    "numa_node": lambda gpu: gpu // 4 % 2,
    "cpu_first": lambda gpu: 24 * (gpu // 4 % 2),
    "cpu_last": lambda gpu: 24 * (gpu // 4 % 2) + 23,
    "pci_domain": 0,
    "pci_bus": lambda gpu: 0x07 + 0x08 * gpu,
    "pci_device": 0,
    "pci_device_id": 0x20B210DE,
    "pci_subsystem_id": 0x146310DE,
    "cuda_speed": 100,
}


def gpu_strings(gpu: int) -> dict[str, str]:
    """What a GPU is called."""
    return {
        "name": "NVIDIA A100-SXM4-80GB",
        "uuid": f"GPU-{0xA1B2C300 + gpu:08x}-{gpu:04x}-4d5e-8f60-0123456789ab",
        "serial": f"{1560000000000 + gpu}",
        "vbios": "92.00.45.00.03",
        "part_number": "900-00000-0000-000",
        "inforom": "G506.0200.00.04",
    }


def topology_default(one: int, other: int) -> int:
    """Pairs share a PCI switch, fours a socket."""
    if one == other:
        return 0
    if one // 2 == other // 2:
        return 10
    return 40 if one // 4 == other // 4 else 50


def p2p_default(one: int, other: int) -> tuple[int, ...]:
    """Read, write, nvlink, atomics, pci: reachable within a socket; NVLink comes with links."""
    near = 0 if one // 4 == other // 4 else 3
    return (near, near, 5, 5, near)
