"""NVML's numbers in words: throttle reasons, XID errors, topology, peer access, modes.

Numbers from NVIDIA's nvml.h; XID texts from NVIDIA's "XID Errors" catalogue.
"""

from __future__ import annotations

from typing import Any

IDLE = "idle"

_REASONS = (
    (0x1, IDLE),
    (0x2, "application clocks setting"),
    (0x4, "power cap (software)"),
    (0x8, "hardware slowdown"),
    (0x10, "sync boost"),
    (0x20, "thermal slowdown (software)"),
    (0x40, "thermal slowdown (hardware)"),
    (0x80, "power brake (hardware)"),
    (0x100, "display clock setting"),
    (0x200, "board limit"),
    (0x400, "reliability"),
)
HARMFUL_REASONS = (
    "hardware slowdown",
    "thermal slowdown (software)",
    "thermal slowdown (hardware)",
    "power brake (hardware)",
    "board limit",
    "reliability",
)
"""Those that tell of a fault or bad cooling, not of a setting or of work at the power limit."""

_XIDS = {
    8: "GPU stopped processing",
    13: "graphics engine exception",
    31: "GPU memory page fault",
    32: "invalid or corrupted push buffer",
    38: "driver firmware error",
    43: "GPU stopped processing: an application's fault",
    45: "preemptive cleanup after an earlier error",
    48: "double-bit ECC error",
    56: "display engine error",
    57: "error programming the video memory interface",
    61: "internal microcontroller breakpoint",
    62: "internal microcontroller halt",
    63: "ECC page retirement or row remapping recorded",
    64: "ECC page retirement or row remapping failed",
    68: "video processor exception",
    69: "graphics engine class error",
    74: "NVLink error",
    79: "GPU has fallen off the bus",
    92: "high single-bit ECC error rate",
    94: "contained ECC error",
    95: "uncontained ECC error",
    119: "GSP firmware did not answer in time",
    120: "GSP firmware error",
    121: "C2C link error",
    140: "unrecovered ECC error",
    143: "GPU initialisation error",
    149: "NVLink error: link down",
    154: "GPU recovery action changed",
}
_LEVELS = {
    0: ("internal", "PIX"),
    10: ("single switch", "PIX"),
    20: ("multiple switches", "PXB"),
    30: ("host bridge", "PHB"),
    40: ("node", "NODE"),
    50: ("system", "SYS"),
}
_P2P = {
    0: "ok",
    1: "chipset not supported",
    2: "GPU not supported",
    3: "topology not supported",
    4: "disabled in the driver's settings",
    5: "not supported",
    6: "unknown",
}
_COMPUTE_MODES = {0: "default", 1: "exclusive thread", 2: "prohibited", 3: "exclusive process"}
_ARCHITECTURES = {
    2: "Kepler",
    3: "Maxwell",
    4: "Pascal",
    5: "Volta",
    6: "Turing",
    7: "Ampere",
    8: "Ada",
    9: "Hopper",
    10: "Blackwell",
    13: "Rubin",
}


def throttle_reasons(bits: int) -> list[str]:
    """Return why the clocks are not higher; a bit that is not known is told by its number."""
    found = [word for bit, word in _REASONS if bits & bit]
    rest = bits & ~sum(bit for bit, _ in _REASONS)
    return [*found, f"reason 0x{rest:x}"] if rest else found


def xid_text(code: int) -> str:
    """Return what an XID error means."""
    return _XIDS.get(code, "see NVIDIA's catalogue of XID errors")


def topology_level(level: int) -> tuple[str, str]:
    """Return the nearest thing that two cards share, in words and as nvidia-smi shortens it."""
    return _LEVELS.get(level, (f"level {level}", f"L{level}"))


def p2p_status(status: Any) -> str:
    """Return whether, or why not, one card reaches another's memory."""
    return _P2P.get(int(status), f"status {status}")


def compute_mode(mode: int) -> str:
    """Return who may use a card: ``default`` for any number of processes."""
    return _COMPUTE_MODES.get(mode, f"mode {mode}")


def architecture(number: int) -> str:
    """Return the generation's name."""
    return _ARCHITECTURES.get(number, f"architecture {number}")


def performance_state(number: int) -> str:
    """Return ``P0`` to ``P15``; 32 is NVML's word for unknown."""
    return f"P{number}" if 0 <= number <= 15 else "unknown"


def cpu_list(bits: int) -> str:
    """Return the processors of a bit set as Linux lists them: ``0-23,48``."""
    ranges: list[str] = []
    cpu = 0
    while bits >> cpu:
        if not bits >> cpu & 1:
            cpu += 1
            continue
        first = cpu
        while bits >> cpu & 1:
            cpu += 1
        ranges.append(str(first) if cpu - first == 1 else f"{first}-{cpu - 1}")
    return ",".join(ranges)
