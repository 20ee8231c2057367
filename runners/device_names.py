"""Devices by name: `cpu:0`, `gpu:1`, and `worker:1/gpu:0` in a run of several roles."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping

_NAME = re.compile(r"(?:(?P<role>[^/]+)/)?(?P<type>[a-z_]+):(?P<index>\d+)")


@dataclasses.dataclass(frozen=True, order=True)
class Device:
    """The parts of a device's name; they sort as people count."""

    role: str
    type: str
    index: int


def parse(name: str) -> Device | None:
    """The parts of a full device name; None for '' and for one that leaves something open (``gpu:*``)."""
    match = _NAME.fullmatch(name)
    return Device(match["role"] or "", match["type"], int(match["index"])) if match else None


def is_host(name: str) -> bool:
    """Whether it is the host: Python's and numpy's memory, of any process."""
    device = parse(name)
    return device is not None and device.type == "cpu" and device.index == 0


def is_gpu(name: str) -> bool:
    """Whether it is a real GPU, by its name."""
    device = parse(name)
    return device is not None and device.type == "gpu"


def default_device(devices: Iterable[str], like: str, told: Mapping[str, str] | None = None) -> str:
    """Where an op goes that nobody placed, in the process of the device `like`.

    What its recorder told (`told`, by role, '' for none), else its gpu:0, else its cpu:0.
    """
    role = like.rpartition("/")[0]
    if told and role in told:
        return told[role]
    prefix = f"{role}/" if role else ""
    return f"{prefix}gpu:0" if f"{prefix}gpu:0" in set(devices) else f"{prefix}cpu:0"
