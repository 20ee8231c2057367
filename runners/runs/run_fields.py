"""What spec.json and status.json may hold, checked where they are read: all other code relies on it.

A value of the wrong type counts as missing, and the run says which fields were wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from runners.printable import encodable

Check = Callable[[Any], bool]
DEEPEST = 64
"""Levels of lists and objects in one another."""
MOST_WHOLE = 1 << 63
_LAST_MOMENT = 253_370_000_000.0
"""Epoch seconds in the year 9999: no clock shows more."""
_LAST_PROCESS = 1 << 31


class Plain:
    """Makes JSON plain: finite numbers of 64 bits, text that can be encoded, few levels."""

    def __init__(self, deepest: int = DEEPEST) -> None:
        self._deepest = deepest
        self.changed = False
        """Whether a value had to be left out or changed."""

    def value(self, value: Any, level: int = 0) -> Any:
        """Return the plain value; ValueError where it has too many levels."""
        if level > self._deepest:
            raise ValueError("it is nested too deeply")
        if isinstance(value, dict):
            return {self._text(name): self.value(part, level + 1) for name, part in value.items()}
        if isinstance(value, list):
            return [self.value(part, level + 1) for part in value]
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, float) and not math.isfinite(value):
            return self._nothing()
        if isinstance(value, int) and not -MOST_WHOLE <= value < MOST_WHOLE:
            return self._nothing()
        return value

    def _text(self, text: str) -> str:
        shown = encodable(text)
        self.changed |= shown is not text and shown != text
        return shown

    def _nothing(self) -> None:
        self.changed = True


def plain(value: dict[str, Any]) -> tuple[dict[str, Any], str | None]:
    """Return a JSON object made plain, and what was wrong; ValueError where it is too deep."""
    making = Plain()
    made: dict[str, Any] = making.value(value)
    return made, "it has text or numbers that cannot be shown" if making.changed else None


def typed(fields: Mapping[str, Check], value: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return an object without the fields of a wrong type, and their names."""
    wrong = [name for name, check in fields.items() if value.get(name) is not None and not check(value[name])]
    return {name: part for name, part in value.items() if name not in wrong}, wrong


def is_text(value: Any) -> bool:
    """Whether a value is text."""
    return isinstance(value, str)


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether a value is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_moment(value: Any) -> bool:
    """Whether a value is a time in epoch seconds that a clock can show."""
    return is_number(value) and 0 <= value <= _LAST_MOMENT


def is_process(value: Any) -> bool:
    """Whether a value can be the id of a process."""
    return is_whole(value) and 0 < value < _LAST_PROCESS


def is_signal(value: Any) -> bool:
    """Whether a value can be the number of a signal."""
    return is_whole(value) and 0 < value <= 128


def is_scalar(value: Any) -> bool:
    """Whether a value is text, a number or a truth value."""
    return isinstance(value, str | int | float)


def list_of(check: Check) -> Check:
    """Check that a value is a list of such values."""
    return lambda value: isinstance(value, list) and all(map(check, value))


def mapping_of(check: Check) -> Check:
    """Check that a value is an object whose values are such values, or null."""
    return lambda value: (
        isinstance(value, dict) and all(part is None or check(part) for part in value.values())
    )


def record(**fields: Check) -> Check:
    """Check that a value is an object with these fields, where it has them."""
    return lambda value: isinstance(value, dict) and not typed(fields, value)[1]


_VARIABLES = mapping_of(is_text)
_DEVICE = record(
    uuid=is_text,
    parent_uuid=is_text,
    pci_bus_id=is_text,
    name=is_text,
    source=is_text,
    nvml_index=is_whole,
    cuda_ordinal=is_whole,
    also=list_of(is_scalar),
)
DEVICES = mapping_of(_DEVICE)
"""Facts about devices by their names, as specs and traces have them."""
_MEMBER = record(command=list_of(is_text), env=_VARIABLES, name=is_text, role=is_text, rank=is_whole)
_STAGE = record(name=is_text, note=is_text, members=list_of(_MEMBER))
_ENDED = {"name": is_text, "pid": is_process, "exit_code": is_whole, "signal": is_signal}

SPEC: Mapping[str, Check] = {
    **dict.fromkeys(
        (
            "run",
            "kind",
            "name",
            "framework",
            "cwd",
            "python",
            "created",
            "origin",
            "resumed_from",
            "hopscope",
        ),
        is_text,
    ),
    "command": list_of(is_text),
    "env": _VARIABLES,
    "stages": list_of(_STAGE),
    "time_limit_s": is_number,
    "lesson": mapping_of(is_scalar),
    "trial": record(of=is_text, finding=is_text, edited=list_of(is_text)),
    "preflight": record(gpus=is_whole, steps=is_whole, seconds=is_number),
    "devices": list_of(is_text),
    "stand_ins": is_whole,
    "device_map": DEVICES,
    "machine": lambda value: isinstance(value, dict),
    "sampled_gpus": list_of(is_text),
    "steps": is_whole,
    "options": mapping_of(is_scalar),
    "versions": mapping_of(is_text),
    "host": record(name=is_text),
}
STATUS: Mapping[str, Check] = {
    **dict.fromkeys(("state", "reason", "boot_id", "output_lost_why"), is_text),
    **dict.fromkeys(
        ("exit_code", "supervisor_start", "launcher_start", "samples_lost", "output_lost"), is_whole
    ),
    **dict.fromkeys(("pid", "supervisor_pid", "launcher_pid"), is_process),
    **dict.fromkeys(("started", "ended"), is_moment),
    "signal": is_signal,
    "stage": record(name=is_text, number=is_whole, of=is_whole),
    "members": list_of(record(**_ENDED)),
    "attached": list_of(
        record(
            pid=is_process,
            start=is_whole,
            boot=is_text,
            host=is_text,
            joined=is_moment,
            left=is_moment,
            state=is_text,
            failure=is_text,
        )
    ),
}
