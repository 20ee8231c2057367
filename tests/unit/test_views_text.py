"""Texts that Markdown shows as they are."""

from __future__ import annotations

from app.views.text import escape_markdown


def test_markdown_sees_only_text() -> None:
    assert escape_markdown("<b>*x*</b> :red[y] $z$\n[a](b)") == (
        r"\<b\>\*x\*\</b\> \:red\[y\] \$z\$ \[a\]\(b\)"
    )
