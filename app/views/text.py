"""Names, logs and imported text are data: here they become safe for Streamlit's Markdown."""

from __future__ import annotations

import re

_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:^=&@])")
_BECOMES_LINK = re.compile(r"(https?://|www(?=\.)|@(?=[-\w]+\.))(?=\S)", re.IGNORECASE)
"""What is made a link after escapes were read, as an extension of Markdown has it."""
_JOINER = "\N{WORD JOINER}"
"""Is not seen, and ends what would be an address."""


def escape_markdown(text: object) -> str:
    """Text that Streamlit's Markdown shows letter by letter: no emphasis, link, directive, maths or HTML."""
    one_line = " ".join(str(text).split())
    return _SPECIAL.sub(r"\\\1", _BECOMES_LINK.sub(rf"\1{_JOINER}", one_line))
