"""The host beside its GPUs: processors, memory, load, uptime, as Linux's /proc tells them."""

from __future__ import annotations

import os
import socket
from typing import Any, Optional

from .missing import absent

_FIRST = absent("a share of time needs two samples", "error")


class Host:
    """This machine."""

    def __init__(self, proc: str = "/proc") -> None:
        self._proc = proc
        self._before: Optional[tuple[int, int]] = None

    def read(self) -> dict[str, Any]:
        """Return the host's fields; one that /proc does not tell says so."""
        return {"hostname": socket.gethostname(), **self._cpu(), **self._memory(), **self._load()}

    def _cpu(self) -> dict[str, Any]:
        words = self._first_line("stat").split()[1:]
        if len(words) < 5:
            return {"cpu_percent": _unread("stat"), "cpu_cores": os.cpu_count() or 1}
        # Guest time, the ninth and tenth, is in user and nice already.
        times = [int(word) for word in words[:8]]
        total, idle = sum(times), times[3] + times[4]
        before, self._before = self._before, (total, idle)
        percent: Any = _FIRST
        if before is not None:
            passed = total - before[0]
            percent = round(100 * (1 - (idle - before[1]) / passed), 1) if passed > 0 else 0.0
            percent = min(100.0, max(0.0, percent))
        return {"cpu_percent": percent, "cpu_cores": os.cpu_count() or 1}

    def _memory(self) -> dict[str, Any]:
        try:
            with open(f"{self._proc}/meminfo", encoding="ascii", errors="replace") as file:
                rows = dict(line.split(":", 1) for line in file if ":" in line)
            kibibytes = {name: int(value.split()[0]) for name, value in rows.items()}
            return {
                "memory_total_bytes": kibibytes["MemTotal"] * 1024,
                "memory_used_bytes": (kibibytes["MemTotal"] - kibibytes["MemAvailable"]) * 1024,
                "swap_used_bytes": (kibibytes.get("SwapTotal", 0) - kibibytes.get("SwapFree", 0)) * 1024,
            }
        except (OSError, ValueError, KeyError, IndexError):
            why = _unread("meminfo")
            return {"memory_total_bytes": why, "memory_used_bytes": why, "swap_used_bytes": why}

    def _load(self) -> dict[str, Any]:
        load, uptime = self._first_line("loadavg").split(), self._first_line("uptime").split()
        return {
            "load_1m": float(load[0]) if load else _unread("loadavg"),
            "uptime_seconds": int(float(uptime[0])) if uptime else _unread("uptime"),
        }

    def _first_line(self, name: str) -> str:
        try:
            with open(f"{self._proc}/{name}", encoding="ascii", errors="replace") as file:
                return file.readline()
        except OSError:
            return ""


def _unread(name: str) -> dict[str, str]:
    return absent(f"/proc/{name} could not be read", "error")
