"""Text in fixed columns: how wide it is on a terminal, cut to fit, and free of what would move the cursor."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

CUT = ".."
"""Stands where something was cut off."""


def plain(text: object) -> str:
    """Text of others on one line: what a terminal would obey or hide becomes a question mark."""
    return "".join(letter if letter.isprintable() else "?" for letter in " ".join(str(text).split()))


def width(text: str) -> int:
    """How many columns a terminal gives to `text`."""
    return sum(map(_columns, text))


def cut(text: str, room: int) -> str:
    """`text` in at most `room` columns, its end given up where it is longer."""
    if width(text) <= room:
        return text
    kept, used = [], 0
    for letter in text:
        used += _columns(letter)
        if used > room - len(CUT):
            break
        kept.append(letter)
    return ("".join(kept).rstrip() + CUT)[:room]


def clip(text: str, room: int) -> str:
    """`text` as far as `room` columns go, and nothing to show that it went on."""
    used = 0
    for place, letter in enumerate(text):
        used += _columns(letter)
        if used > room:
            return text[:place]
    return text


def left(text: str, room: int) -> str:
    """`text` cut to `room` columns and filled up to it on the right."""
    shown = cut(text, room)
    return shown + " " * (room - width(shown))


def right(text: str, room: int) -> str:
    """`text` cut to `room` columns and filled up to it on the left."""
    shown = cut(text, room)
    return " " * (room - width(shown)) + shown


def aligned(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()) -> list[str]:
    """Rows as columns under a head, two spaces apart; the columns in `numbers` stand to the right."""
    widths = [max(map(width, column)) for column in zip(head, *rows, strict=True)]
    return [
        "  ".join(
            (right if place in numbers else left)(cell, room)
            for place, (cell, room) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (head, *rows)
    ]


def _columns(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1
