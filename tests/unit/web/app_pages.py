"""Pages as Streamlit's own test harness draws them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from streamlit.testing.v1 import AppTest

_LONG_S = 120.0
"""A busy machine takes longer than the harness's three seconds."""


def page_of(function: Callable[..., Any], args: tuple[Any, ...] | None = None) -> AppTest:
    """The page that this function draws; not run yet."""
    return AppTest.from_function(function, args=args, default_timeout=_LONG_S)
