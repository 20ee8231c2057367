"""What unit tests of several subjects share."""

from __future__ import annotations

from pathlib import Path

import pytest

from runners.runs import run_files


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files of run folders that are opened from now on."""
    names: list[str] = []
    real = run_files.descriptor

    def noted(folder: Path, name: str) -> int:
        names.append(f"{folder.name}/{name}")
        return real(folder, name)

    monkeypatch.setattr(run_files, "descriptor", noted)
    return names
