"""Names, logs and imported text are data: here they become safe for Streamlit's Markdown."""

from __future__ import annotations

import re

_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:^=&@])")


def escape_markdown(text: object) -> str:
    """Text that Streamlit's Markdown shows letter by letter: no emphasis, link, directive, maths or HTML."""
    one_line = " ".join(str(text).split())
    return _SPECIAL.sub(r"\\\1", one_line)


def code_span(text: object) -> str:
    """Text as inline code, whatever it holds; newlines become spaces."""
    one_line = " ".join(str(text).split())
    if not one_line:
        return ""
    longest = max((len(run) for run in re.findall(r"`+", one_line)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if one_line.startswith("`") or one_line.endswith("`") else ""
    return f"{fence}{pad}{one_line}{pad}{fence}"
