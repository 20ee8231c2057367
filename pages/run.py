"""Run: what a run is doing, or did: findings first, then every view of it, all linked."""

from __future__ import annotations

from app.web.run.run_panel import run_panel

run_panel()
