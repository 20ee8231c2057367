"""The files that a report can be written as."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from app.reports.html import render_html


@dataclasses.dataclass(frozen=True)
class Format:
    """A format: `report RUN --<name> FILE` writes it."""

    name: str
    help: str
    render: Callable[[Mapping[str, Any]], str]
    """Makes the file's text of a report."""


FORMATS = (Format("html", "write it as a page of its own", render_html),)
