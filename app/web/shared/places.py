"""Where the pages are: their scripts, for moving within a session, and their addresses, for links."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlencode

_PAGES = Path(__file__).resolve().parents[3] / "pages"

MACHINE = _PAGES / "machine.py"
LAUNCH = _PAGES / "launch.py"
RUNS = _PAGES / "runs.py"
RUN = _PAGES / "run.py"
LESSONS = _PAGES / "lessons.py"


def run_link(run_id: str) -> str:
    """The address of a run's page on this server."""
    return f"/run?{urlencode({'run': run_id})}"


def lesson_link(program: str, query: Mapping[str, str] | None = None) -> str:
    """The address of a lesson on this server; `query` is what else stands in it."""
    return f"/lessons?{urlencode({**(query or {}), 'lesson': program})}"
