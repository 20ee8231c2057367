"""What a card's fields are called in Prometheus: as NVIDIA's dcgm-exporter names and counts them.

Its dashboards and alerts then read these metrics too. Names and units from DCGM's field identifiers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

Convert = Callable[[Any], float | None]


class Name(NamedTuple):
    """One field's metric."""

    field: str
    metric: str
    help: str
    convert: Convert = float
    counts: bool = False
    """It only ever grows."""


def _times(factor: float) -> Convert:
    return lambda value: float(value) * factor


def _mebibytes(count: Any) -> float:
    """Whole ones, as dcgm-exporter tells them."""
    return float(count // 2**20)


def _state(value: Any) -> float | None:
    """The number of ``P0``; None where the driver itself does not know."""
    number = str(value).removeprefix("P")
    return float(number) if number.isdecimal() else None


_MILLI = _times(1000)

DCGM_NAMES = (
    Name("utilization_gpu_percent", "DCGM_FI_DEV_GPU_UTIL", "GPU utilization (in %)."),
    Name("utilization_memory_percent", "DCGM_FI_DEV_MEM_COPY_UTIL", "Memory utilization (in %)."),
    Name("encoder_percent", "DCGM_FI_DEV_ENC_UTIL", "Encoder utilization (in %)."),
    Name("decoder_percent", "DCGM_FI_DEV_DEC_UTIL", "Decoder utilization (in %)."),
    Name("memory_used_bytes", "DCGM_FI_DEV_FB_USED", "Framebuffer memory used (in MiB).", _mebibytes),
    Name("memory_free_bytes", "DCGM_FI_DEV_FB_FREE", "Framebuffer memory free (in MiB).", _mebibytes),
    Name(
        "memory_reserved_bytes",
        "DCGM_FI_DEV_FB_RESERVED",
        "Framebuffer memory reserved (in MiB).",
        _mebibytes,
    ),
    Name("memory_total_bytes", "DCGM_FI_DEV_FB_TOTAL", "Framebuffer memory in all (in MiB).", _mebibytes),
    Name("temperature_celsius", "DCGM_FI_DEV_GPU_TEMP", "GPU temperature (in C)."),
    Name("temperature_memory_celsius", "DCGM_FI_DEV_MEMORY_TEMP", "Memory temperature (in C)."),
    Name("temperature_slowdown_celsius", "DCGM_FI_DEV_SLOWDOWN_TEMP", "Slowdown temperature (in C)."),
    Name("temperature_shutdown_celsius", "DCGM_FI_DEV_SHUTDOWN_TEMP", "Shutdown temperature (in C)."),
    Name("power_watts", "DCGM_FI_DEV_POWER_USAGE", "Power draw (in W)."),
    Name("power_limit_watts", "DCGM_FI_DEV_ENFORCED_POWER_LIMIT", "Enforced power limit (in W)."),
    Name("power_limit_default_watts", "DCGM_FI_DEV_POWER_MGMT_LIMIT_DEF", "Default power limit (in W)."),
    Name("power_limit_max_watts", "DCGM_FI_DEV_POWER_MGMT_LIMIT_MAX", "Highest power limit (in W)."),
    Name(
        "energy_joules",
        "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
        "Energy since the driver was loaded (in mJ).",
        _MILLI,
        True,
    ),
    Name("clock_sm_mhz", "DCGM_FI_DEV_SM_CLOCK", "SM clock frequency (in MHz)."),
    Name("clock_memory_mhz", "DCGM_FI_DEV_MEM_CLOCK", "Memory clock frequency (in MHz)."),
    Name("clock_video_mhz", "DCGM_FI_DEV_VIDEO_CLOCK", "Video clock frequency (in MHz)."),
    Name("clock_sm_max_mhz", "DCGM_FI_DEV_MAX_SM_CLOCK", "Highest SM clock frequency (in MHz)."),
    Name("clock_memory_max_mhz", "DCGM_FI_DEV_MAX_MEM_CLOCK", "Highest memory clock frequency (in MHz)."),
    Name("clock_video_max_mhz", "DCGM_FI_DEV_MAX_VIDEO_CLOCK", "Highest video clock frequency (in MHz)."),
    Name("performance_state", "DCGM_FI_DEV_PSTATE", "Performance state, 0 (highest) to 15.", _state),
    Name("fan_percent", "DCGM_FI_DEV_FAN_SPEED", "Fan speed (in %)."),
    Name("pcie_generation", "DCGM_FI_DEV_PCIE_LINK_GEN", "PCIe generation now."),
    Name("pcie_width", "DCGM_FI_DEV_PCIE_LINK_WIDTH", "PCIe lanes now."),
    Name("pcie_generation_max", "DCGM_FI_DEV_PCIE_MAX_LINK_GEN", "Highest PCIe generation."),
    Name("pcie_width_max", "DCGM_FI_DEV_PCIE_MAX_LINK_WIDTH", "Most PCIe lanes."),
    Name("pcie_tx_bytes_per_second", "DCGM_FI_PROF_PCIE_TX_BYTES", "Sent over PCIe (in bytes a second)."),
    Name("pcie_rx_bytes_per_second", "DCGM_FI_PROF_PCIE_RX_BYTES", "Received over PCIe (in bytes a second)."),
    Name(
        "nvlink_tx_bytes_per_second", "DCGM_FI_PROF_NVLINK_TX_BYTES", "Sent over NVLink (in bytes a second)."
    ),
    Name(
        "nvlink_rx_bytes_per_second",
        "DCGM_FI_PROF_NVLINK_RX_BYTES",
        "Received over NVLink (in bytes a second).",
    ),
    Name("ecc_mode", "DCGM_FI_DEV_ECC_CURRENT", "Whether ECC is on."),
    Name(
        "ecc_corrected_volatile",
        "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL",
        "Corrected ECC errors since the driver was loaded.",
        counts=True,
    ),
    Name(
        "ecc_uncorrected_volatile",
        "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL",
        "Uncorrected ECC errors since the driver was loaded.",
        counts=True,
    ),
    Name(
        "ecc_corrected_aggregate",
        "DCGM_FI_DEV_ECC_SBE_AGG_TOTAL",
        "Corrected ECC errors in the card's life.",
        counts=True,
    ),
    Name(
        "ecc_uncorrected_aggregate",
        "DCGM_FI_DEV_ECC_DBE_AGG_TOTAL",
        "Uncorrected ECC errors in the card's life.",
        counts=True,
    ),
    Name("retired_pages_pending", "DCGM_FI_DEV_RETIRED_PENDING", "Whether pages wait to be retired."),
    Name("remapped_rows_pending", "DCGM_FI_DEV_ROW_REMAP_PENDING", "Whether rows wait to be remapped."),
    Name("remapped_rows_failure", "DCGM_FI_DEV_ROW_REMAP_FAILURE", "Whether remapping of rows has failed."),
    Name("persistence_mode", "DCGM_FI_DEV_PERSISTENCE_MODE", "Whether persistence mode is on."),
    Name("mig_mode", "DCGM_FI_DEV_MIG_MODE", "Whether MIG mode is on.", lambda value: float(value == "on")),
    Name(
        "clock_graphics_mhz",
        "hopscope_gpu_clock_graphics_mhz",
        "Graphics clock frequency (in MHz).",
    ),
    Name(
        "clock_graphics_max_mhz",
        "hopscope_gpu_clock_graphics_max_mhz",
        "Highest graphics clock frequency (in MHz).",
    ),
    Name("nvlinks", "hopscope_gpu_nvlinks", "NVLink links of the card, up or down."),
)

HOST_NAMES = (
    Name("cpu_percent", "hopscope_host_cpu_percent", "All processors' use (in % of all)."),
    Name("cpu_cores", "hopscope_host_cpu_cores", "Processors."),
    Name("load_1m", "hopscope_host_load1", "Load over a minute."),
    Name("memory_total_bytes", "hopscope_host_memory_total_bytes", "Host memory in all."),
    Name("memory_used_bytes", "hopscope_host_memory_used_bytes", "Host memory used."),
    Name("swap_used_bytes", "hopscope_host_swap_used_bytes", "Swap used."),
    Name("uptime_seconds", "hopscope_host_uptime_seconds", "Since the host was started."),
)
