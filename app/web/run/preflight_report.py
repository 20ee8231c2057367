"""What a pre-flight foresees, read once for all who look at it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from app.reports.prediction_report import preflight_report
from runners.runs.run import Run


def foreseen(run: Run) -> dict[str, Any]:
    """The report of a pre-flight that has ended. HopscopeError where nothing in it can be read."""
    return _report(str(run.path))


@st.cache_data(max_entries=8, show_spinner=False)
def _report(path: str) -> dict[str, Any]:
    return preflight_report(Path(path))
