"""A change of a user's files: lines to replace, and what it says of them."""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

_ENDS = re.compile(r"(\r\n|\r|\n)")  # what Python takes for the end of a line; a form feed is none
_BOM = "\ufeff"


@dataclasses.dataclass(frozen=True)
class Edit:
    """Lines `first` to `last` of a file, from 1, are replaced; ``last = first - 1`` inserts before."""

    file: str
    """As sites have it."""
    first: int
    last: int
    new: tuple[str, ...]
    """Without line ends."""


@dataclasses.dataclass(frozen=True)
class Repair:
    """A fix as code for one line's situation."""

    words: str
    """What the change does, and what to check by hand."""
    edits: tuple[Edit, ...]

    def row(self) -> dict[str, Any]:
        """As the report has it, so that a program can make the change."""
        return {"words": self.words, "edits": [dataclasses.asdict(edit) for edit in self.edits]}

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Self:
        """From `row`, as the report has it."""
        edits = (Edit(**one | {"new": tuple(one["new"])}) for one in row["edits"])
        return cls(row["words"], tuple(edits))

    def code(self, text_of: Callable[[str], str | None], context: int = 1) -> str:
        """The changed lines like a unified diff, `context` lines around them; '' where a text is gone."""
        parts = []
        for file in dict.fromkeys(edit.file for edit in self.edits):
            text = text_of(file)
            if text is None:
                return ""
            edits = [edit for edit in self.edits if edit.file == file]
            parts += _shown(file, plain_lines(text), edits, context)
        return "\n".join(parts)


def plain_lines(text: str) -> list[str]:
    """The lines without their ends, and without a byte order mark."""
    return [line for line, _ in _lines(text.removeprefix(_BOM))]


def applied(text: str, edits: Sequence[Edit]) -> str:
    """The text with the edits of its file made; line ends, a mark and a missing last end stay as they are.

    Raises ValueError for edits that overlap or lie outside of the text.
    """
    mark = _BOM if text.startswith(_BOM) else ""
    lines = _lines(text.removeprefix(_BOM))
    usual = next((end for _, end in reversed(lines) if end), "\n")
    closed = not lines or bool(lines[-1][1])
    above = len(lines) + 1
    for edit in sorted(edits, key=lambda edit: (edit.first, edit.last), reverse=True):
        if not 1 <= edit.first <= edit.last + 1 <= above:
            raise ValueError(f"line {edit.first} to {edit.last} of {edit.file} can't be replaced")
        ends = [end for _, end in lines[edit.first - 1 : edit.last]] or [_end_beside(lines, edit.first)]
        ends += [ends[-1]] * len(edit.new)
        lines[edit.first - 1 : edit.last] = list(zip(edit.new, ends, strict=False))
        above = edit.first
    lines = [(line, end or usual) for line, end in lines]
    if lines and not closed:
        lines[-1] = (lines[-1][0], "")
    return mark + "".join(line + end for line, end in lines)


def edits_between(file: str, old: str, new: str) -> tuple[Edit, ...]:
    """The edits that make one text the other, by lines."""
    before, after = plain_lines(old), plain_lines(new)
    head = 0
    while head < min(len(before), len(after)) and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    a, b = before[head : len(before) - tail], after[head : len(after) - tail]
    found = difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    return tuple(
        Edit(file, head + i1 + 1, head + i2, tuple(b[j1:j2]))
        for tag, i1, i2, j1, j2 in found
        if tag != "equal"
    )


def line_after(edits: Sequence[Edit], line: int) -> int:
    """Where in the edited text of one file a line is, or what stands in its place begins."""
    moved = line
    for edit in edits:
        if edit.first <= line <= edit.last:
            return moved - (line - edit.first)
        if edit.first <= line:
            moved += len(edit.new) - (edit.last - edit.first + 1)
    return moved


def _lines(text: str) -> list[tuple[str, str]]:
    pieces = [*_ENDS.split(text), ""]
    lines = list(zip(pieces[::2], pieces[1::2], strict=True))
    return lines[:-1] if lines[-1] == ("", "") else lines


def _end_beside(lines: Sequence[tuple[str, str]], line: int) -> str:
    """The end of the line above a place, or of the one below where it is the first; '' for none."""
    return lines[max(0, line - 2)][1] if lines else ""


def _shown(file: str, lines: Sequence[str], edits: Sequence[Edit], context: int) -> list[str]:
    shown: list[str] = []
    done = 0
    ordered = sorted(edits, key=lambda edit: (edit.first, edit.last))
    for index, edit in enumerate(ordered):
        start = max(done, edit.first - 1 - context)
        if not shown or start > done:
            shown.append(f"@@ {file}:{edit.first} @@")
        shown += [f" {line}" for line in lines[start : edit.first - 1]]
        shown += [f"-{line}" for line in lines[edit.first - 1 : edit.last]]
        shown += [f"+{line}" for line in edit.new]
        done = min(len(lines), edit.last + context)
        if index + 1 < len(ordered):
            done = max(edit.last, min(done, ordered[index + 1].first - 1))
        shown += [f" {line}" for line in lines[edit.last : done]]
    return shown
