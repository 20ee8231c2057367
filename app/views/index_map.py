"""Which card is which, as text: NVML's number beside CUDA's in both orders, and the frameworks' names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.views.columns import aligned, plain
from app.views.gaps import Gaps
from probes.nvml.snapshot import is_missing
from runners.environments.frameworks import FRAMEWORKS

_FRAMEWORKS = tuple(FRAMEWORKS.values())
_CUDA_HEAD = ("NVML", "UUID", "PCI BUS ID", "CUDA", "PCI_BUS_ID", "FASTEST_FIRST")
_HEAD = (*_CUDA_HEAD, *(one.title.upper() for one in _FRAMEWORKS))
_NUMBERS = (0, 3, 4, 5)
_WIDTH = 110
_NONE = "-"


def index_map(snapshot: Mapping[str, Any], environment: Mapping[str, str]) -> str:
    """The map of a snapshot that has `cuda_ordinal` and `cuda_ordinals`; empty without GPUs.

    CUDA's and the frameworks' numbers are those of a process with this environment.
    """
    if not snapshot.get("gpus"):
        return ""
    gaps = Gaps()
    rows = [_row(gpu, gaps) for gpu in snapshot["gpus"]]
    told = "; ".join(
        f"{name}={plain(environment[name])}" if name in environment else f"{name} is not set"
        for name in ("CUDA_DEVICE_ORDER", "CUDA_VISIBLE_DEVICES")
    )
    head = f"Which card is which, to a process started from here ({told}):"
    return "\n".join([head, *aligned(_HEAD, rows, _NUMBERS), *gaps.lines(_WIDTH)]) + "\n"


def _row(gpu: Mapping[str, Any], gaps: Gaps) -> tuple[str, ...]:
    index: int = gpu["index"]

    def cell(of: Mapping[str, Any], name: str, what: str) -> str:
        value = of.get(name, {"state": "error", "reason": "not asked of CUDA"})
        if is_missing(value):
            gaps.note(index, what, value)
            return _NONE
        return plain(value)

    ordinal = cell(gpu, "cuda_ordinal", "CUDA's number")
    orders = gpu.get("cuda_ordinals", {})
    return (
        str(index),
        cell(gpu, "uuid", "UUID"),
        cell(gpu, "pci_bus_id", "PCI bus id"),
        ordinal,
        cell(orders, "PCI_BUS_ID", "number by PCI_BUS_ID"),
        cell(orders, "FASTEST_FIRST", "number by FASTEST_FIRST"),
        *(_NONE if ordinal == _NONE else one.device.format(ordinal) for one in _FRAMEWORKS),
    )
