"""The runs that tried a fix, at the run whose findings they were tried for."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.web.run import run_panel
from runners.runs import registry
from runners.runs.run import Run


def test_what_was_launched_a_moment_ago_stands_there_at_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Bug: who came back to the run within five seconds did not see it, and never without loading anew."""
    found: list[Run] = []
    monkeypatch.setattr(registry, "runs_folder", lambda: tmp_path)
    monkeypatch.setattr(registry, "runs", lambda: found)
    assert run_panel.tries_by_now("first") == {}
    spec = {"name": "t", "trial": {"of": "first", "finding": "bounce@train.py:3"}}
    found.append(Run("second", tmp_path / "second", spec, {"state": "running"}))
    (tmp_path / "second").mkdir()
    assert [one["text"] for one in run_panel.tries_by_now("first")["bounce@train.py:3"]] == ["second"]


def test_without_a_folder_of_runs_nothing_was_tried(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(registry, "runs_folder", lambda: tmp_path / "none")
    assert run_panel.tries_by_now("first") == {}
