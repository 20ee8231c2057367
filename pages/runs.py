"""Runs: every run with its state and progress, newest first; stop, delete, open, share."""

from __future__ import annotations

from app.web.runs.runs_panel import runs_panel

runs_panel()
