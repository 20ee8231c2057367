"""The page for those who come without a token."""

from __future__ import annotations

from collections.abc import Iterable

from app.views.templates import render

TOKEN = "token"
"""The name of the token in an address."""


def sign_in(path: str, query: Iterable[tuple[str, str]]) -> str:
    """The page as HTML; it leads on to `path` with the fields of `query`."""
    return render("sign_in.html", path="/" + path.lstrip("/"), query=query)
