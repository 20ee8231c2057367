"""Why a field has no value, in words, and the key under a table that shows N/A."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

from app.views.columns import plain
from probes.nvml.snapshot import is_missing

NOTHING = "N/A"
UNREAD: dict[str, str] = {"state": "error", "reason": "not sampled"}
"""What stands for a field that a snapshot does not have at all."""

_NVML = "NVML_ERROR_"
_WORDS = {
    "GPU_IS_LOST": "GPU is lost",
    "RESET_REQUIRED": "GPU needs a reset",
    "FUNCTION_NOT_FOUND": "unsupported by this driver",
    "NO_PERMISSION": "denied",
    "NOT_SUPPORTED": "unsupported",
    "UNKNOWN": "unknown error",
}


def field(of: Mapping[str, Any], name: str) -> Any:
    """A field's value, or the missing one that says why not."""
    return of.get(name, UNREAD)


def why(missing: Mapping[str, Any]) -> str:
    """The reason in few words, without brackets: ``denied``, ``unsupported``, ``GPU is lost``."""
    reason = plain(missing.get("reason", ""))
    if not reason.startswith(_NVML):
        return reason or plain(missing.get("state", "error"))
    name = reason.removeprefix(_NVML)
    if name in _WORDS:
        return _WORDS[name]
    if missing.get("state") == "unsupported":
        return "unsupported"
    return f"error {name}" if name.isdigit() else name.lower().replace("_", " ")


class Gaps:
    """Collects the fields that a table could not show, for the key below it."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], list[int]] = {}

    def note(self, gpu: int, what: str, missing: Mapping[str, Any]) -> str:
        """Keep that GPU's field for the key, and return what stands in the cell."""
        gpus = self._found.setdefault((what, why(missing)), [])
        if gpu not in gpus:
            gpus.append(gpu)
        return NOTHING

    def value(self, gpu: Mapping[str, Any], name: str, what: str) -> Any:
        """A field's value; None where there is none, which is kept for the key as `what`."""
        found = field(gpu, name)
        if is_missing(found):
            self.note(gpu["index"], what, found)
            return None
        return found

    def lines(self, room: int) -> list[str]:
        """The key, `room` columns wide: ``GPU 0-7  fan, ECC [unsupported]``; nothing where nothing lacked."""
        by_gpus: dict[tuple[int, ...], dict[str, list[str]]] = {}
        for (what, reason), gpus in self._found.items():
            by_gpus.setdefault(tuple(sorted(gpus)), {}).setdefault(reason, []).append(what)
        if not by_gpus:
            return []
        heads = {which: f"  GPU {ranges(which)}  " for which in sorted(by_gpus)}
        indent = max(map(len, heads.values()))
        told = ["What could not be read, and why:"]
        for which, head in heads.items():
            text = "; ".join(f"{', '.join(what)} [{reason}]" for reason, what in by_gpus[which].items())
            told += textwrap.wrap(
                text, room, initial_indent=head.ljust(indent), subsequent_indent=" " * indent
            )
        return told


def ranges(numbers: tuple[int, ...]) -> str:
    """Ascending numbers as ``0-3,6``."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ",".join(str(part[0]) if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in parts)
