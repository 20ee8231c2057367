"""Names, logs and imported text are data: here they become safe for Streamlit's Markdown."""

from __future__ import annotations

import re

_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:^=&@])")


def escape_markdown(text: object) -> str:
    """Text that Streamlit's Markdown shows letter by letter: no emphasis, link, directive, maths or HTML."""
    one_line = " ".join(str(text).split())
    return _SPECIAL.sub(r"\\\1", one_line)
