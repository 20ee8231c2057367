"""Two runs side by side, in words: what a change did to a finding, and what both cost."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Callable, Collection, Sequence
from typing import Any

from app.components.table.table import Column
from app.diagnosis.causes.xla_opaque.cause import CODE as COMPILED
from app.diagnosis.verification import StepTime, Verified
from app.judgments.finding import Finding
from app.store.failure import LastException
from app.store.sources import shown_lines
from app.views import units
from app.web.run.finding_rows import change_lines
from app.web.shared.rows import HOP_COLUMNS

COLUMNS = (
    Column("what", "", "text", width="14rem"),
    Column("before", "Before", "number"),
    Column("after", "After", "number"),
    Column("change", "Change", "number"),
)
SHOWN_COLUMNS = tuple(column for column in HOP_COLUMNS if column.name not in ("tensor", "within"))
"""Of the hop table's columns those that tell what shows only now."""
_MOST_NAMED = 4
_SAID = {
    "gone": "is gone",
    "eased": "is a note any more, no warning",
    "still there": "is still there",
}
_FORESEEN = {
    "gone": "is gone: it is not foreseen any more",
    "eased": "is foreseen as a note only, no warning",
    "still there": "is still foreseen",
}


_DEARER = 1.1
"""Times as many bytes, from which on a change is told to cost some."""
_SLOWER = 1.1
"""Times as long a step or a wait, from which on a change is told to cost time."""
_LEAST_WAIT = 1e6
"""ns by which Python has to stand still for longer, to be told where nothing tells how long a step takes."""
_OF_STAND_INS = (
    "Stand-ins copy nothing, and all of them share the host's cores: what a step or a wait takes here says"
    " little of GPUs, so times are no part of the verdict."
)


def changed_lines(was: str, now: str) -> list[dict[str, str]]:
    """What an edited copy changes, with a line around each change, as the component `changes` draws it."""
    lines = difflib.unified_diff(shown_lines(was), shown_lines(now), lineterm="", n=1)
    rows = change_lines("\n".join(itertools.islice(lines, 2, None)))  # behind the files' names
    return rows or [{"kind": "part", "text": "No line differs."}]


def headline(verified: Verified, foreseen: bool = False) -> str:
    """``bounce at train.py:7 is gone``; `foreseen`: of two pre-flights."""
    where = f" at {verified.site}" if verified.site else ""
    moved = ""
    lines = [one.site for one in verified.after.found if one.site and one.site != verified.site]
    if lines:
        moved = f", now at {', '.join(dict.fromkeys(lines))}"
    if verified.unseen and verified.state != "still there":
        shows = "does not show it" if verified.state == "gone" else f"shows it as a note only{moved}"
        unknown = f"Whether {verified.code}{where} is gone is not known"
        return f"{unknown}: this run {shows}; not seen: {verified.unseen}"
    said = f"{verified.code}{where} {(_FORESEEN if foreseen else _SAID)[verified.state]}{moved}"
    if verified.code == COMPILED and verified.state == "gone" and verified.uncovered:
        return f"{said}: this run shows what XLA hid in the one before"
    return said


def broken(raised: LastException, changed: Collection[str]) -> str:
    """What to make of a copy that fails where the run before did not; `changed`: lines that the edit put in.

    The words say nothing of the finding: how it would be is not known.
    """
    by = ", a line of the change" if raised.site in changed else ""
    where = f" at {raised.site}{by}" if raised.site else ""
    return (
        f"With this change the program fails{where}: {raised.said.rstrip('.')}. The run before did not fail."
    )


def shown_now(verified: Verified) -> str:
    """What to make of transfers that only the run after shows; '' where XLA hid nothing before."""
    if not verified.uncovered:
        return ""
    if not verified.shown:
        return "In what XLA had compiled nothing crosses that could not be seen before."
    one = len(verified.shown) == 1
    several = units.plural(len(verified.shown), "transfer")
    return (
        f"{several} inside graphs {'shows' if one else 'show'} only now,"
        " because in the run before XLA compiled what is there, and nothing in it could be seen."
        f" {'It' if one else 'Each'} either took place there too or was inside one kernel, where nothing is"
        f" sent: the records of that run don't tell which. {'Its' if one else 'Their'} bytes are left out of"
        " the change below."
    )


def new_told(verified: Verified) -> list[str]:
    """Warnings that only the run after has; those of what XLA hid before are told apart."""
    shown = set(verified.shown)
    hidden = [one for one in verified.new if one.hops and shown.issuperset(one.hops)]
    brought = [one for one in verified.new if one not in hidden]
    return [
        f"{units.plural(len(found), noun, several)}: {_named(found)}"
        for found, noun, several in (
            (brought, "new warning", ""),
            (hidden, "warning of what shows only now", "warnings of what shows only now"),
        )
        if found
    ]


def _named(found: Sequence[Finding]) -> str:
    named = ", ".join(f"{one.code} at {one.site or 'an unknown line'}" for one in found[:_MOST_NAMED])
    more = len(found) - _MOST_NAMED
    return f"{named} and {more} more" if more > 0 else named


def dearer(verified: Verified) -> str:
    """``, but all in all +48 % of bytes move``: what is gone may have gone elsewhere; '' where it has not."""
    was, now, only = verified.before.bytes, verified.after.bytes, verified.bytes_shown
    if verified.state == "still there" or was is None or now is None or only is None or not was:
        return ""
    more = now - only
    return f", but all in all {change(was, more)} of bytes move" if more > _DEARER * was else ""


def slower(verified: Verified) -> str:
    """``, but a step takes longer (+38 %)``: what a change costs in time; '' where that is not sure.

    Of stand-ins nothing is said: their times are no GPU's.
    """
    if not verified.timed or verified.stand_ins or verified.state == "still there":
        return ""
    was, now = verified.before, verified.after
    stood = _more_stood(was.stood_ns, now.stood_ns)
    if was.step and now.step:
        if now.step.median <= _SLOWER * was.step.median or was.step.like(now.step):
            return ""  # steps that take as long as before: Python at most waits elsewhere
        told = f"a step takes longer ({change(was.step.median, now.step.median)})"
        return f", but {told}" + (f" and {stood}" if stood else "")
    return f", but {stood}" if stood else ""


def cost(verified: Verified) -> str:
    """What a change cost elsewhere, in bytes and time: `dearer` and `slower` in one."""
    more, longer = dearer(verified), slower(verified)
    return more + (longer.replace(", but ", ", and ", 1) if more else longer)


def _more_stood(was: float | None, now: float | None) -> str:
    if was is None or now is None or now <= _SLOWER * was or now - was < _LEAST_WAIT:
        return ""
    return f"Python stands still for {_time(now)} instead of {_time(was)}"


def of_times(verified: Verified) -> str:
    """What the times that stand side by side are worth; '' where they are those of the devices meant."""
    return _OF_STAND_INS if verified.timed and verified.stand_ins else ""


def rows(verified: Verified, whole: bool = True, each: str = "") -> list[dict[str, Any]]:
    """What is compared, a row each; the change is told as a part of what it was.

    `whole`: the later run went to its end; else it did less, and no change is told. `each` says what the
    figures are of, '' for a step or the whole run.
    """
    made = _rows(verified, each or ("each step" if verified.by_step else "in the whole run"))
    for one in () if whole else made:
        one["cells"]["change"] = {"text": "", "remark": "not held against"}
    return made


def amount_row(
    name: str, what: str, was: float | None, now: float | None, told: Callable[[float], str]
) -> dict[str, Any]:
    """A row of `COLUMNS` about an amount, which changes by a part of it."""
    cells = {
        "what": {"text": what},
        "before": _number(was, told),
        "after": _number(now, told),
        "change": {"text": _change_of(was, now, told)},
    }
    return {"id": name, "cells": cells}


def count_row(name: str, what: str, was: int, now: int) -> dict[str, Any]:
    """A row of `COLUMNS` about a few things, which change by so many."""
    made = amount_row(name, what, was, now, lambda value: f"{value:.0f}")
    made["cells"]["change"] = {"text": _difference(was, now)}
    return made


def _rows(verified: Verified, each: str) -> list[dict[str, Any]]:
    before, after = verified.before, verified.after
    made = [
        amount_row("bytes", f"All bytes that move, {each}", before.bytes, after.bytes, size_told),
        count_row("warnings", "Warnings and errors", before.warnings, after.warnings),
    ]
    if verified.timed:
        what = f"Python stood still, {each}"
        made.insert(1, amount_row("stood", what, before.stood_ns, after.stood_ns, _time))
        if before.step or after.step:
            made.insert(2, _steps(before.step, after.step))
    if verified.bytes_shown != 0:
        made[0]["cells"]["change"] = _without(verified)
    was, now = before.bytes_of_finding, after.bytes_of_finding
    if not was == 0 == now:  # else the finding is of no transfer
        made.insert(0, amount_row("finding", f"Bytes of this finding, {each}", was, now, size_told))
    return made


def _without(verified: Verified) -> dict[str, Any]:
    """How the bytes changed besides those that could not be seen before, which are no cost of the change."""
    was, now, only = verified.before.bytes, verified.after.bytes, verified.bytes_shown
    if now is None or only is None:
        return {"text": ""}
    return {"text": change(was, now - only), "remark": f"without {size_told(only)} that shows only now"}


def _steps(was: StepTime | None, now: StepTime | None) -> dict[str, Any]:
    """A step's time of both, with what it varies by within each run: the runs themselves vary by more."""
    told = _change_of(was.median if was else None, now.median if now else None, _time)
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


_LEAST_CHANGE = 0.0005
"""The part below which a change would be shown as 0.0 %."""


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
    if abs(part) < _LEAST_CHANGE:
        return "none"
    sign = "+" if part > 0 else "\N{MINUS SIGN}"
    return f"{sign}{units.percent(abs(part))}"


def _change_of(was: float | None, now: float | None, told: Callable[[float], str]) -> str:
    """`change`, of figures that stand beside it: a percentage of two that read alike reads as an error."""
    changed = change(was, now)
    if was is None or now is None or changed == "none" or told(was) != told(now):
        return changed
    return "about the same"


def _difference(was: int, now: int) -> str:
    """``none``, ``-1``, ``+2``: of few things a percentage says less."""
    sign = "+" if now > was else "\N{MINUS SIGN}"
    return "none" if was == now else f"{sign}{abs(now - was)}"


def _number(value: float | None, told: Callable[[float], str]) -> dict[str, Any]:
    return {"text": units.UNKNOWN if value is None else told(value), "sort": value}


def size_told(value: float) -> str:
    """``4 KiB``."""
    return units.size(round(value))


def _time(value: float) -> str:
    return units.duration(value / 1e9)
