"""Which parts of Python source are keywords, strings, comments: what is coloured where it is shown."""

from __future__ import annotations

import functools
import io
import keyword
import token
import tokenize
from collections.abc import Sequence

MOST_LINES = 5000
_STRINGS = {number for number, name in token.tok_name.items() if name.startswith(("FSTRING", "TSTRING"))} | {
    token.STRING
}
_NAMED = frozenset({"def", "class"})

Word = tuple[int, int, str]
"""Start and end in characters of its line, and what it is: keyword, string, comment, digits, name."""


def python_words(lines: Sequence[str]) -> list[list[Word]]:
    """The coloured parts of each line, in order; what is not Python is left plain from there on."""
    return _words("\n".join(lines)) if len(lines) <= MOST_LINES else []


@functools.lru_cache(maxsize=256)
def _words(text: str) -> list[list[Word]]:
    lines = text.split("\n")
    found: list[list[Word]] = [[] for _ in lines]
    before = ""
    try:
        for one in tokenize.generate_tokens(io.StringIO(text + "\n").readline):
            kind = _kind(one, before)
            if kind:
                (first, start), (last, end) = one.start, one.end
                for number in range(first, min(last, len(lines)) + 1):
                    begins = start if number == first else 0
                    ends = end if number == last else len(lines[number - 1])
                    if ends > begins:
                        found[number - 1].append((begins, ends, kind))
            before = one.string
    except (tokenize.TokenError, SyntaxError):  # IndentationError is one
        pass
    return found


def _kind(one: tokenize.TokenInfo, before: str) -> str:
    if one.type == token.COMMENT:
        return "comment"
    if one.type in _STRINGS:
        return "string"
    if one.type == token.NUMBER:
        return "digits"
    if one.type == token.NAME:
        return "keyword" if keyword.iskeyword(one.string) else "name" if before in _NAMED else ""
    return ""
