"""Where two reports differ, by the paths of their values; texts and measurements are left out at will."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

TEXTS = frozenset(
    {
        "because",
        "diff",
        "fix",
        "hidden",
        "notes",
        "proof",
        "reason",
        "summary",
        "text",
        "why",
        "words",
    }
)
"""Keys of sentences, and of patches, which repeat a user's lines."""
MEASURED = frozenset(
    {
        "copy_ns",
        "idle",
        "idle_meanwhile",
        "peak_bytes",
        "run",
        "samples",
        "share",
        "step_ns",
        "timed",
        "wait_ns",
    }
)
"""Keys of what two recordings of one program never have in common: times, sampled memory, names of runs."""


def differences(before: Any, after: Any, without: Collection[str] = (), path: str = "") -> Iterator[str]:
    """Yield ``findings[2].severity: "info" -> "warning"`` for each value that differs.

    Keys in `without` are not compared, wherever they stand. Lists of different lengths are one difference
    beside those of their common part.
    """
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in dict.fromkeys([*before, *after]):
            if key in without:
                continue
            place = f"{path}.{key}" if path else str(key)
            if key not in before or key not in after:
                yield f"{place}: {'only before' if key in before else 'only after'}"
            else:
                yield from differences(before[key], after[key], without, place)
    elif isinstance(before, list) and isinstance(after, list):
        if len(before) != len(after):
            yield f"{path}: {len(before)} rows -> {len(after)} rows"
        for index, (old, new) in enumerate(zip(before, after, strict=False)):
            yield from differences(old, new, without, f"{path}[{index}]")
    elif type(before) is not type(after) or before != after:
        yield f"{path}: {_short(before)} -> {_short(after)}"


def in_order(report: Any, without: Collection[str] = ()) -> Any:
    """Return a report without these keys, its rows in an order that follows from what they hold.

    Two recordings list rows by when they happened, and findings by what they cost. So numbers of rows, which
    findings have as `hops`, are left out too.
    """
    if isinstance(report, Mapping):
        kept = {
            key: value for key, value in report.items() if key not in without and not _numbers(key, value)
        }
        return {key: in_order(value, without) for key, value in kept.items()}
    if isinstance(report, list):
        rows = [in_order(value, without) for value in report]
        return sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))
    return report


def _numbers(key: str, value: Any) -> bool:
    return key == "hops" and isinstance(value, list) and all(isinstance(one, int) for one in value)


def _short(value: Any, most: int = 120) -> str:
    text = repr(value)
    return text if len(text) <= most else f"{text[: most - 1]}…"
