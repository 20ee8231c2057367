"""The processes of all GPUs as the lower table of nvidia-smi: with user and SM share, and whose they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.views.columns import left, plain, right
from app.views.gaps import NOTHING, Gaps, field, why
from probes.nvml.snapshot import is_missing

_COMMAND_ROOM = 35
_HEAD = (
    "Processes:",
    " GPU   GI      PID  Type   User        SM  Process                           GPU Memory ",
)
_NONE = "No running processes found"
_ELSEWHERE = "(of another container)"
_GONE = "(ended; the driver still counts it)"


def process_table(gpus: Sequence[Mapping[str, Any]], gaps: Gaps, inner: int) -> list[str]:
    """The table's lines, `inner` columns between its borders."""
    rows: list[str] = []
    for gpu in gpus:
        if is_missing(gpu.get("unreadable")):
            continue
        processes = field(gpu, "processes")
        if is_missing(processes):
            rows.append(f"  {gpu['index']:>3}  which processes use this card is not told [{why(processes)}]")
            continue
        rows += [_row(gpu["index"], process, gaps) for process in processes]
    line = f"+{'-' * inner}+"
    return [
        line,
        *(f"|{left(' ' + words, inner)}|" for words in _HEAD),
        f"|{'=' * inner}|",
        *(f"|{left(row, inner)}|" for row in rows or [f"  {_NONE}"]),
        line,
    ]


def _row(gpu: int, process: Mapping[str, Any], gaps: Gaps) -> str:
    where = process.get("where")
    memory, share, user = (field(process, name) for name in ("memory_bytes", "sm_percent", "user"))
    shown_memory = (
        gaps.note(gpu, "memory of processes", memory) if is_missing(memory) else f"{memory / 2**20:.0f}MiB"
    )
    shown_share = gaps.note(gpu, "SM share of processes", share) if is_missing(share) else f"{share:.0f}%"
    if where == "here":
        shown_user = gaps.note(gpu, "user of processes", user) if is_missing(user) else plain(user)
    else:
        shown_user = "-" if is_missing(user) else plain(user)
    instance = process.get("gpu_instance")
    shown_instance = "-" if instance is None else NOTHING if is_missing(instance) else f"{instance}"
    return (
        f"  {gpu:>3}  {shown_instance:>3} {process['pid']:>8}  {left(plain(process.get('type', '')), 5)}"
        f"  {left(shown_user, 8)} {shown_share:>4}  {left(_command(gpu, process, gaps), _COMMAND_ROOM)}"
        f" {right(shown_memory, 9)}"
    )


def _command(gpu: int, process: Mapping[str, Any], gaps: Gaps) -> str:
    where = process.get("where")
    if where == "elsewhere":
        return _ELSEWHERE
    if where == "gone":
        return _GONE
    command = field(process, "command")
    if is_missing(command):
        return gaps.note(gpu, "command of processes", command)
    return short_command(plain(command))


def short_command(command: str) -> str:
    """A command line with the folders of its program left out: ``python3 train.py --epochs 3``."""
    program, space, rest = command.partition(" ")
    return f"{program.rpartition('/')[2] or program}{space}{rest}"
