"""`with hopscope.forbid("host-sync"):` fails where such a transfer happens in the block."""

from __future__ import annotations

import contextlib
import difflib
import json
import warnings
from collections.abc import Iterator
from typing import Any, Optional

from .clone import HopscopeError, command, dashboard_python, recorder

CODES = (
    "explicit",
    "default-device",
    "gradient-outside-scope",
    "no-kernel",
    "host-memory",
    "missing-device",
    "colocation",
    "variable-home",
    "host-sync",
    "host-upload",
    "mixed-context",
    "redundant-copy",
    "bounce",
    "collective",
    "reduce-on-host",
    "replica-drift",
    "device-order",
    "xla-opaque",
    "unbalanced",
    "unknown",
)
"""What can be forbidden: the codes of findings, as the README's words explain them."""
_MOST_LINES = 20


class ForbiddenTransfer(AssertionError):
    """A block did what it must not do; the message names op, line and edge of each."""

    def __init__(self, rows: list[str], run: str) -> None:
        """`rows` are lines for people; `run` is the id of the run that shows more."""
        more = len(rows) - _MOST_LINES
        shown = [*rows[:_MOST_LINES], *([f"and {more} more"] if more > 0 else [])]
        super().__init__("\n  ".join(["forbidden in this block:", *shown, f"run {run} shows it all"]))
        self.rows = rows
        self.run = run


@contextlib.contextmanager
def forbid(*codes: str, root: Optional[str] = None, name: Optional[str] = None) -> Iterator[None]:
    """Fail with ForbiddenTransfer where a hop, sync or upload of one of these `codes` happens in the block.

    An exception of the block itself passes through, and nothing is judged then. Lines are told relative to
    `root`, by default the script's folder. The run of a block that fails stays under `name`; of others none
    does. HopscopeError where the recording cannot be read; a warning where nothing could be seen.
    """
    __tracebackhide__ = True  # pytest shows the test's own lines
    if not codes:
        raise ValueError("forbid() needs codes, such as 'host-sync'")
    for code in codes:
        if code not in CODES:
            near = difflib.get_close_matches(code, CODES, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there is {', '.join(CODES)}"
            raise ValueError(f"there is no code {code!r}; {hint}")
    dashboard_python()  # what cannot be judged is told before it runs
    module = recorder("attach.block")
    if module.whole_run() is not None:
        raise HopscopeError(
            "this process is recorded already, so a part of it cannot be judged alone: take forbid() out of "
            "the block around it, or run without the recorder"
        )
    block = module.open_block(name or "forbid", root, hidden=True)
    try:
        yield
    except BaseException as error:
        block.end(type(error), error)
        block.discard()
        raise
    block.end()
    try:
        report = _report(block.path)
        rows = forbidden(report, codes)
    except BaseException:
        block.discard()
        raise
    if rows:
        block.show()
        raise ForbiddenTransfer(rows, block.id)
    block.discard()
    _warn(report)


def _report(folder: str) -> dict[str, Any]:
    done = command("report", folder, "--json")
    try:
        report = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None
    except (IndexError, ValueError):
        report = None
    if not isinstance(report, dict):
        said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise HopscopeError(f"the recording of this block could not be read: {said}")
    return report


def forbidden(report: dict[str, Any], codes: tuple[str, ...]) -> list[str]:
    """The lines that tell of what is forbidden, from a report (version 1); none where nothing is."""
    hops = report["hops"]
    rows = {
        index: _told(hop["cause"], hop)
        for index, hop in enumerate(hops)
        if hop["cause"] in codes and hop["count"] != 0
    }
    others = []
    for finding in report["findings"]:
        if finding["code"] not in codes or _only_unseen(finding):
            continue
        if not finding["hops"]:
            others.append(f"{finding['code']}: {finding['summary']}")
        for index in finding["hops"]:
            # Parts of a chain have causes of their own.
            rows.setdefault(index, _told(finding["code"], hops[index]))
    return [*(rows[index] for index in sorted(rows)), *others]


def _told(code: str, hop: dict[str, Any]) -> str:
    size = f"{hop['bytes']} B" if hop["bytes"] is not None else "bytes unknown"
    count = {None: "how often is not known", 1: "once"}.get(hop["count"], f"{hop['count']} times")
    site = hop["site"] or "an unknown line"
    return f"{code}: {hop['op']} at {site}: {hop['tensor']} {hop['src']} -> {hop['dst']}, {size}, {count}"


def _only_unseen(finding: dict[str, Any]) -> bool:
    """What could not be seen is warned of: it is no transfer of an unknown cause."""
    return finding["code"] == "unknown" and "why" in finding["evidence"] and not finding["hops"]


def _warn(report: dict[str, Any]) -> None:
    if not report["placement"] and not report["hops"]:
        warnings.warn("hopscope: no op of TensorFlow or MXNet was seen in the block", stacklevel=4)
    elif all(row["device"] == "cpu:0" for row in report["placement"] if row["ops"]) and not report["hops"]:
        words = (
            "hopscope: all ran on cpu:0, so nothing could cross; give the test a GPU or several CPU devices"
        )
        warnings.warn(words, stacklevel=4)
    for row in report["unseen"]:
        warnings.warn(f"hopscope: not seen, so not judged: {row['what']}: {row['why']}", stacklevel=4)
