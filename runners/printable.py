"""Text from runs as it may be shown: it drives no terminal, and no line looks other than it is."""

from __future__ import annotations

import re

_BYTES = range(0xDC80, 0xDD00)
"""How Python holds bytes of a name that are not UTF-8."""
_SURROGATES = re.compile("[\ud800-\udfff]")


def printable(text: object) -> str:
    r"""Return a text with its control characters, escapes and bidi marks spelled out: ``\x1b[31m``."""
    found = str(text)
    return found if found.isprintable() else "".join(map(_shown, found))


def printable_lines(text: str) -> str:
    """Return a text of several lines with each of them printable."""
    return "\n".join(map(printable, text.split("\n")))


def encodable(text: str) -> str:
    """Return a text that can be written as UTF-8: lone surrogates become the replacement character."""
    return _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", text) if not text.isascii() else text


def _shown(char: str) -> str:
    if char.isprintable():
        return char
    if ord(char) in _BYTES:
        return f"\\x{ord(char) - 0xDC00:02x}"
    return char.encode("unicode_escape").decode("ascii")
