"""`with hopscope.forbid("host-sync"):` fails where such a transfer happens in the block."""

from __future__ import annotations

import contextlib
import difflib
import os
import warnings
from types import TracebackType
from typing import Any, Optional

from . import judge
from .clone import HopscopeError, recorder

CODES = (
    "explicit",
    "default-device",
    "gradient-outside-scope",
    "variable-home",
    "no-kernel",
    "host-memory",
    "colocation",
    "host-sync",
    "host-upload",
    "redundant-copy",
    "bounce",
    "collective",
    "reduce-on-host",
    "unknown",
    "mixed-context",
    "replica-drift",
    "device-order",
    "xla-opaque",
    "unbalanced",
    "missing-device",
)
"""What can be forbidden: the codes of findings, as docs/causes.md explains them."""
_MOST_LINES = 20
_MOST_BESIDE = 40
"""Lines of a message that are none of its rows."""
_MOST_CHANGED = 12
"""Lines of a fix, as code, that a message has."""


class ForbiddenTransfer(AssertionError):
    """A block did what it must not do; the message names op, line and edge of each, and a fix where known."""

    def __init__(self, rows: list[str], run: str, beside: Optional[dict[str, list[str]]] = None) -> None:
        """`rows` are lines for people; `run` is the id of the run that shows more.

        `beside` are further texts on a row, its source and its fix, each told where there is room for it.
        """
        shown, more = [], len(rows) - _MOST_LINES
        room = _MOST_BESIDE - min(len(rows), _MOST_LINES)
        for row in rows[:_MOST_LINES]:
            shown.append(row)
            for text in (beside or {}).get(row, []):
                lines = text.splitlines()
                if len(lines) <= room:  # half a change were none
                    room -= len(lines)
                    shown += [f"  {line}" for line in lines]
        shown += [f"and {more} more"] if more > 0 else []
        super().__init__("\n  ".join(["forbidden in this block:", *shown, f"run {run} shows it all"]))
        self.rows = rows
        self.run = run


class Kept:
    """The blocks whose runs stay, and whether all do."""

    def __init__(self) -> None:
        """Of blocks that did nothing forbidden none stays."""
        self.everything = False
        self.blocks: list[Any] = []

    def taken(self) -> list[Any]:
        """Those since this was asked the last time."""
        taken, self.blocks = self.blocks, []
        return taken


kept = Kept()
"""Of this process."""


def forbid(
    *codes: str, root: Optional[str] = None, name: Optional[str] = None, keep: bool = False
) -> Forbidding:
    """Fail with ForbiddenTransfer where a hop, sync or upload of one of these `codes` happens in the block.

    Also as a decorator. An exception of the block itself passes through, and nothing is judged then. Lines
    are told relative to `root`, by default the script's folder. The run of a block that fails stays under
    `name`, by default the test's that runs; that of another stays only with `keep`. HopscopeError where the
    recording cannot be read; a warning where nothing could be seen.
    """
    return Forbidding(codes, root, name, keep)


class Forbidding(contextlib.ContextDecorator):
    """The block; no generator, so that pytest shows the test's own line where it fails."""

    def __init__(self, codes: tuple[str, ...], root: Optional[str], name: Optional[str], keep: bool) -> None:
        """As `forbid` says."""
        self._asked = codes, root, name, keep
        self._block: Any = None

    def _recreate_cm(self) -> Forbidding:
        return Forbidding(*self._asked)

    def __enter__(self) -> None:
        """Begin to record."""
        __tracebackhide__ = True
        codes, root, name, _ = self._asked
        if not codes:
            raise ValueError("forbid() needs codes, such as 'host-sync'")
        for code in codes:
            if code not in CODES:
                near = difflib.get_close_matches(code, CODES, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"there is {', '.join(CODES)}"
                raise ValueError(f"there is no code {code!r}; {hint}")
        module = recorder("attach.block")
        if module.whole_run() is not None:
            raise HopscopeError(
                "this process is recorded already, so a part of it cannot be judged alone: take forbid() out "
                "of the block around it, or run without the recorder"
            )
        judge.prepare()  # what cannot be judged is told before it runs
        try:
            self._block = module.open_block(name or name_of_test() or "forbid", root, hidden=True)
        except OSError as error:
            raise HopscopeError(f"this block cannot be recorded: {error}") from None

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        """Judge what was recorded."""
        __tracebackhide__ = True
        block, keep = self._block, self._asked[-1] or kept.everything
        if error is not None:
            block.end(kind, error)
            _over(block, keep)
            return
        block.end()
        try:
            report = judge.report(block.path)
            rows = forbidden(report, self._asked[0])
        except BaseException:
            block.discard()
            raise
        _over(block, keep or bool(rows))
        if rows:
            raise ForbiddenTransfer(rows, block.id, beside(report, self._asked[0]))
        _warn(report)


def _over(block: Any, stays: bool) -> None:
    if stays:
        block.show()
        kept.blocks.append(block)
    else:
        block.discard()


def name_of_test(node: Optional[str] = None) -> Optional[str]:
    """``TestModel::test_step[2]`` of a test's node id, by default of the one that pytest runs now, if any."""
    if node is None:
        node = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
    return node.partition("::")[2] or node or None


def forbidden(report: dict[str, Any], codes: tuple[str, ...]) -> list[str]:
    """The lines that tell of what is forbidden, from a report (version 1); none where nothing is."""
    rows, others = _rows(report, codes)
    return [*(rows[index] for index in sorted(rows)), *others]


def _rows(report: dict[str, Any], codes: tuple[str, ...]) -> tuple[dict[int, str], dict[str, Any]]:
    """Lines by the transfer's index, and those of findings without one, with them."""
    hops = report["hops"]
    rows = {
        index: _told(hop["cause"], hop)
        for index, hop in enumerate(hops)
        if hop["cause"] in codes and hop["count"] != 0
    }
    others = {}
    for finding in report["findings"]:
        if finding["code"] not in codes or _only_unseen(finding):
            continue
        if not finding["hops"]:
            others[f"{finding['code']}: {finding['summary']}"] = finding
        for index in finding["hops"]:
            # Parts of a chain have causes of their own.
            rows.setdefault(index, _told(finding["code"], hops[index]))
    return rows, others


def beside(report: dict[str, Any], codes: tuple[str, ...]) -> dict[str, list[str]]:
    """By line of `forbidden`: the source line, where its text was kept, and its finding's fix, each once.

    The fix has its code below it. Of a row at a line without text the finding's line is told.
    """
    rows, others = _rows(report, codes)
    findings = report["findings"]
    texts = {one.get("site"): text for one in findings for text in [_source(one)] if text}
    told = dict(others)
    for index in sorted(rows):
        # What a transfer's own cause says goes before the chain that it is a part of.
        own = report["hops"][index]["cause"]
        having = [one for one in findings if index in one["hops"]]
        told[rows[index]] = next((one for one in having if one["code"] == own), having[0] if having else {})
    sites = {rows[index]: report["hops"][index]["site"] for index in rows}
    seen: set[str] = set()
    found = {}
    for row, one in told.items():
        text = texts.get(sites.get(row, one.get("site")), "")
        if not text and (own := _source(one)):
            text = f"{one['site'].rpartition(':')[0]}:{own}"
        lines = [text, _fix(one)]
        found[row] = [line for line in lines if line and line not in seen]
        seen.update(found[row])
    return found


def _fix(finding: dict[str, Any]) -> str:
    """``fix: Runs the statement ..`` and the lines that change, as far as they are few; '' for none."""
    words = finding.get("fix") or ""
    diff = (finding.get("repair") or {}).get("diff") or ""
    changed = [line for line in diff.splitlines() if not line.startswith(" ")]
    if not words:
        return ""
    if len(changed) > _MOST_CHANGED:
        return f"fix, as code in the run: {words}"
    return "\n".join([f"fix: {words}", *(f"  {line}" for line in changed)])


def _source(finding: dict[str, Any]) -> str:
    """``14 | y = f(x)``: the line of a finding; '' where its text was not kept."""
    lines = finding.get("source")
    if not lines:
        return ""
    return f"{lines['line']} | {lines['lines'][lines['line'] - lines['first']].strip()}"


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
        warnings.warn("hopscope: no op of a recorded framework was seen in the block", stacklevel=3)
    elif all(row["device"] == "cpu:0" for row in report["placement"] if row["ops"]) and not report["hops"]:
        words = (
            "hopscope: all ran on cpu:0, so nothing could cross; give the test a GPU or several CPU devices"
        )
        warnings.warn(words, stacklevel=3)
    for row in report["unseen"]:
        warnings.warn(f"hopscope: not seen, so not judged: {row['what']}: {row['why']}", stacklevel=3)
