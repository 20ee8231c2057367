"""The slices of cards in MIG mode as a table of their own, as nvidia-smi has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.views.columns import left, plain, right
from app.views.gaps import Gaps, field
from probes.nvml.snapshot import is_missing

_NAME_ROOM = 42
_MAKER = "NVIDIA "


def mig_table(gpus: Sequence[Mapping[str, Any]], gaps: Gaps, inner: int) -> list[str]:
    """The table's lines, `inner` columns between its borders; nothing where no card is sliced."""
    rows = []
    for gpu in gpus:
        instances = field(gpu, "mig")
        for instance in instances if isinstance(instances, list) else ():
            rows.append(_row(gpu["index"], instance, gaps))
    if not rows:
        return []
    head = ("MIG instances:", f"{' GPU   GI   CI   Name':<{inner - 21}}{'Memory-Usage':>19}")
    line = f"+{'-' * inner}+"
    return [
        line,
        *(f"|{left(' ' + words, inner)}|" for words in head),
        f"|{'=' * inner}|",
        *(f"|{left(row, inner)}|" for row in rows),
        line,
    ]


def short_name(name: str, room: int) -> str:
    """A card's name; its maker's is the first thing that a long one can do without."""
    return name if len(name) <= room else name.removeprefix(_MAKER)


def _row(gpu: int, instance: Mapping[str, Any], gaps: Gaps) -> str:
    cells = []
    for name, what in (
        ("gpu_instance", "GPU instance"),
        ("compute_instance", "compute instance"),
        ("name", "name of an instance"),
        ("memory_used_bytes", "memory of an instance"),
        ("memory_total_bytes", "memory of an instance"),
    ):
        value = field(instance, name)
        if is_missing(value):
            cells.append(gaps.note(gpu, what, value))
        else:
            cells.append(f"{value / 2**20:.0f}MiB" if name.endswith("_bytes") else plain(value))
    gi, ci, name, used, total = cells
    shown = left(short_name(name, _NAME_ROOM), _NAME_ROOM)
    return f"  {gpu:>3}  {gi:>3}  {ci:>3}   {shown} {right(f'{used} /{total:>10}', 27)}"
