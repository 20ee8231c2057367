"""Who uses a card. NVML tells process ids as the machine's first PID namespace counts them.

In a container these numbers are not its own: a local process may happen to have one. So a number counts as a
local process only in the first namespace, or where that process has the driver open.
"""

from __future__ import annotations

import os
import pwd
from typing import Any, Optional

from .calls import Nvml
from .missing import DENIED, NOT_FOUND, absent, is_missing, missing

HERE, ELSEWHERE, GONE = "here", "elsewhere", "gone"
INITIAL_PID_NAMESPACE = 4026531836
"""PROC_PID_INIT_INO of the kernel's include/linux/proc_ns.h."""
_LONGEST_COMMAND = 400
_NOT_AVAILABLE = 0xFFFFFFFFFFFFFFFF
_WHOLE = 0xFFFFFFFF
"""The GPU instance of a process that uses the whole card."""
_LISTS = (
    ("C", "nvmlDeviceGetComputeRunningProcesses"),
    ("G", "nvmlDeviceGetGraphicsRunningProcesses"),
    ("M", "nvmlDeviceGetMPSComputeRunningProcesses"),
)
_OLDER = ("_v3", "_v2", "")
_DRIVER_PARTS = ("/dev/nvidia", "libcuda.so", "libnvidia-ml.so")
_ANOTHER = absent("a process of another container (PID namespace)")
_ENDED = absent("no such process any more", "error")
_RECHECK_S = 5.0


def in_initial_namespace(proc: str = "/proc") -> bool:
    """Whether process ids here are those of the machine's first namespace."""
    try:
        return os.readlink(f"{proc}/self/ns/pid") == f"pid:[{INITIAL_PID_NAMESPACE}]"
    except OSError:
        return False


class People:
    """What /proc tells of processes, remembered while they are the same ones."""

    def __init__(self, proc: str = "/proc", initial: Optional[bool] = None) -> None:
        self._proc = proc
        self.initial = in_initial_namespace(proc) if initial is None else initial
        self._known: dict[int, tuple[float, dict[str, Any]]] = {}

    def describe(self, pid: int, now: float) -> dict[str, Any]:
        """Return {where, user, command} of a process id that NVML told; `now` by the monotonic clock."""
        known = self._known.get(pid)
        if known is None or now - known[0] > _RECHECK_S:
            known = (now, self._look(pid))
            self._known[pid] = known
        return known[1]

    def forget_all_but(self, pids: set[int]) -> None:
        """Let go of processes that no card has any more."""
        for pid in set(self._known) - pids:
            del self._known[pid]

    def _look(self, pid: int) -> dict[str, Any]:
        folder = f"{self._proc}/{pid}"
        try:
            owner = os.stat(folder).st_uid
        except OSError:
            if self.initial:
                return {"where": GONE, "user": _ENDED, "command": _ENDED}
            return {"where": ELSEWHERE, "user": _ANOTHER, "command": _ANOTHER}
        if not self.initial and not self._has_driver_open(folder):
            return {"where": ELSEWHERE, "user": _ANOTHER, "command": _ANOTHER}
        return {"where": HERE, "user": _user(owner), "command": self._command(folder)}

    def _has_driver_open(self, folder: str) -> bool:
        try:
            with open(f"{folder}/maps", encoding="utf-8", errors="replace") as maps:
                if any(part in line for line in maps for part in _DRIVER_PARTS):
                    return True
        except OSError:
            # Another user's: it may be any process, so it is not claimed to be this one.
            return False
        try:
            for name in os.listdir(f"{folder}/fd"):
                if os.readlink(f"{folder}/fd/{name}").startswith("/dev/nvidia"):
                    return True
        except OSError:
            pass
        return False

    def _command(self, folder: str) -> Any:
        try:
            with open(f"{folder}/cmdline", "rb") as file:
                words = file.read(16 * _LONGEST_COMMAND)
            if not words:
                with open(f"{folder}/comm", "rb") as file:
                    words = b"[" + file.read().strip() + b"]"
        except PermissionError:
            return absent("the command of another user's process cannot be read", DENIED)
        except OSError:
            return _ENDED
        text = words.rstrip(b"\0").replace(b"\0", b" ").decode("utf-8", "replace")
        return text if len(text) <= _LONGEST_COMMAND else text[: _LONGEST_COMMAND - 1] + "…"


class CardProcesses:
    """The processes of one card, with their share of its multiprocessors."""

    def __init__(self, people: People) -> None:
        self._people = people
        self._last_sample = 0
        self._versions: dict[str, str] = {}
        self._refused: Any = None
        """Why the compute processes, which decide whether an empty table means none, could not be listed."""

    def read(self, nvml: Nvml, handle: Any, now: float) -> Any:
        """Return the processes, or why they cannot be listed; `now` by the monotonic clock."""
        rows: dict[tuple[int, Optional[int]], dict[str, Any]] = {}
        for kind, call in _LISTS:
            listed = self._list(nvml, handle, call)
            if kind == "C":
                self._refused = listed if is_missing(listed) else None
            if is_missing(listed):
                # Lists of graphics and MPS are wanting on many cards.
                continue
            for process in listed:
                instance = getattr(process, "gpuInstanceId", None)
                instance = None if instance in (None, _WHOLE) else int(instance)
                row = rows.setdefault((int(process.pid), instance), {"type": ""})
                row["type"] = kind if not row["type"] else f"{row['type']}+{kind}"
                memory = process.usedGpuMemory
                row["memory_bytes"] = (
                    absent("the driver does not tell it", "error")
                    if memory is None or memory == _NOT_AVAILABLE
                    else int(memory)
                )
        if self._refused is not None and not rows:
            return self._refused
        shares = self._shares(nvml, handle) if rows else {}
        return [
            {
                "pid": pid,
                "type": row["type"],
                **self._people.describe(pid, now),
                "memory_bytes": row["memory_bytes"],
                "sm_percent": shares if is_missing(shares) else shares.get(pid, 0),
                "gpu_instance": instance,
            }
            for (pid, instance), row in sorted(rows.items(), key=lambda item: item[0][0])
        ]

    def _list(self, nvml: Nvml, handle: Any, call: str) -> Any:
        """Ask by the newest name that the driver has: drivers before 510 lack the third version."""
        if call in self._versions:
            return nvml.ask(call + self._versions[call], handle)
        answer = missing(13)
        for version in _OLDER:
            if not nvml.has(call + version):
                continue
            answer = nvml.ask(call + version, handle)
            if not (is_missing(answer) and answer["reason"] == "NVML_ERROR_FUNCTION_NOT_FOUND"):
                self._versions[call] = version
                break
        return answer

    def _shares(self, nvml: Nvml, handle: Any) -> Any:
        """Return {pid: percent of the multiprocessors}; a process without activity has no sample, so 0."""
        code, samples = nvml.code_of("nvmlDeviceGetProcessUtilization", handle, self._last_sample)
        if code == NOT_FOUND or (code == 0 and samples is None):
            # Not one process did anything since the last time.
            return {}
        if code:
            return missing(code)
        shares: dict[int, tuple[int, int]] = {}
        for sample in samples:
            stamp = int(sample.timeStamp)
            self._last_sample = max(self._last_sample, stamp)
            if stamp >= shares.get(int(sample.pid), (0, 0))[0]:
                shares[int(sample.pid)] = (stamp, min(100, int(sample.smUtil)))
        return {pid: percent for pid, (_, percent) in shares.items()}


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)
