"""Two runs side by side, in words: what a change did to a finding, and what both cost."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any

from app.analysis.verify import Side, StepTime, Verified
from app.live.table import Column
from app.store.sources import shown_lines
from app.views import units

COLUMNS = (
    Column("what", "", "text", width="14rem"),
    Column("before", "Before", "number"),
    Column("after", "After", "number"),
    Column("change", "Change", "number"),
)
_SAID = {
    "gone": "is gone",
    "eased": "is a note any more, no warning",
    "still there": "is still there",
}


def changed_lines(path: str, was: str, now: str) -> str:
    """What an edited copy changes, as a unified diff with a line around each change."""
    lines = difflib.unified_diff(shown_lines(was), shown_lines(now), path, "the copy", lineterm="", n=1)
    return "\n".join(lines) or "No line differs."


def headline(verified: Verified) -> str:
    """``bounce at train.py:7 is gone``."""
    where = f" at {verified.site}" if verified.site else ""
    moved = ""
    lines = [one.site for one in verified.after.found if one.site and one.site != verified.site]
    if lines:
        moved = f", now at {', '.join(dict.fromkeys(lines))}"
    return f"{verified.code}{where} {_SAID[verified.state]}{moved}"


def rows(verified: Verified) -> list[dict[str, Any]]:
    """What is compared, a row each; the change is told as a part of what it was."""
    each = f"each {verified.word}" if verified.by_step else "in the whole run"
    before, after = verified.before, verified.after

    def row(name: str, what: str, of: Callable[[Side], float | None], told: Callable[[float], str]) -> Any:
        was, now = of(before), of(after)
        cells = {
            "what": {"text": what},
            "before": _number(was, told),
            "after": _number(now, told),
            "change": {"text": change(was, now)},
        }
        return {"id": name, "cells": cells}

    made = [
        row("finding", f"Bytes of this finding, {each}", lambda side: side.bytes_of_finding, _size),
        row("bytes", f"All bytes between devices, {each}", lambda side: side.bytes, _size),
        row("stood", f"Python stood still, {each}", lambda side: side.stood_ns, _time),
        row("warnings", "Warnings and errors", lambda side: side.warnings, lambda value: f"{value:.0f}"),
    ]
    made[-1]["cells"]["change"] = {"text": _difference(before.warnings, after.warnings)}
    if before.step or after.step:
        made.insert(3, _steps(before.step, after.step))
    return made


def _steps(was: StepTime | None, now: StepTime | None) -> dict[str, Any]:
    """A step's time of both, with what it varies by within each run: the runs themselves vary by more."""
    told = change(was.median if was else None, now.median if now else None)
    alike = was is not None and now is not None and was.like(now)
    cells = {
        "what": {"text": "A step, median (middle half)"},
        "before": _step(was),
        "after": _step(now),
        "change": {"text": told, "remark": "within the spread" if alike and told != "none" else ""},
    }
    return {"id": "step", "cells": cells}


def _step(time: StepTime | None) -> dict[str, Any]:
    if time is None:
        return _number(None, _time)
    middle = f"{_time(time.low)} to {_time(time.high)}"
    return {"text": _time(time.median), "remark": middle, "sort": time.median}


def change(was: float | None, now: float | None) -> str:
    """``none``, ``-62 %``, ``all of it gone``, ``new``; '' where one is not known."""
    if was is None or now is None:
        return ""
    if was == now:
        return "none"
    if not was:
        return "new"
    if not now:
        return "all gone"
    part = now / was - 1
    sign = "+" if part > 0 else "\N{MINUS SIGN}"
    return f"{sign}{units.percent(abs(part))}"


def _difference(was: int, now: int) -> str:
    """``none``, ``-1``, ``+2``: of few things a percentage says less."""
    sign = "+" if now > was else "\N{MINUS SIGN}"
    return "none" if was == now else f"{sign}{abs(now - was)}"


def _number(value: float | None, told: Callable[[float], str]) -> dict[str, Any]:
    return {"text": units.UNKNOWN if value is None else told(value), "sort": value}


def _size(value: float) -> str:
    return units.size(round(value))


def _time(value: float) -> str:
    return units.duration(value / 1e9)
