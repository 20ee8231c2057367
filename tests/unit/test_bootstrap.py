"""The bootstrap's decisions: is this interpreter enough, what is shown, what old Pythons can read."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from app import bootstrap
from app.console_progress import ConsoleProgress
from runners.environments.virtualenv import Recipe
from runners.environments.workbench import Step
from runners.errors import HopscopeError, UsageError

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    "file", ["app/__main__.py", "app/__init__.py", "tests/__main__.py", "tests/__init__.py"]
)
def test_entries_are_readable_by_old_pythons(file: str) -> None:
    ast.parse((ROOT / file).read_text(), feature_version=(3, 4))


@pytest.mark.parametrize(
    ("installed", "requirement", "enough"),
    [
        ("1.67.0", "streamlit>=1.67,<2", True),
        ("1.70.2", "streamlit >= 1.67, < 2", True),
        ("1.66.9", "streamlit>=1.67,<2", False),
        ("2.0.0", "streamlit>=1.67,<2", False),
        ("1.67", "streamlit", True),
        ("1.67.0", "streamlit==1.67", True),
        ("1.67.0", "streamlit>=2; python_version < '3'", True),
        ("1.67.0", "streamlit>=2; python_version > '3'", False),
    ],
)
def test_own_environment_is_used_only_where_versions_fit(
    installed: str, requirement: str, enough: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda _name: installed)
    file = tmp_path / "requirements.txt"
    file.write_text(f"# what it takes\n\n{requirement}\n")
    assert bootstrap.satisfied(Recipe("dashboard", (file,))) is enough


def test_missing_package_is_not_enough(tmp_path: Path) -> None:
    file = tmp_path / "requirements.txt"
    file.write_text("no-such-package-anywhere>=1\n")
    assert not bootstrap.satisfied(Recipe("dashboard", (file,)))


def test_environment_is_in_the_clone_unless_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOPSCOPE_ENVS", raising=False)
    assert bootstrap.dashboard_environment().path == ROOT / ".venv"
    monkeypatch.setenv("HOPSCOPE_ENVS", str(tmp_path))
    assert bootstrap.dashboard_environment().path == tmp_path / "dashboard"


def test_failure_is_one_line_and_a_wrong_request_exits_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert bootstrap.tell_failure(HopscopeError("no network")) == 1
    assert bootstrap.tell_failure(UsageError("no such device")) == 2
    assert capsys.readouterr().err == "hopscope: no network\nhopscope: no such device\n"


def test_progress_in_a_file_is_a_few_plain_lines_on_standard_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with ConsoleProgress("Preparing") as console:
        for second in range(100):
            console.tell(Step(f"collecting {second}", None, second / 10))
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert lines[0] == "Preparing" and "collecting 0" in lines[1] and lines[-1].endswith("ready")
    assert len(lines) == 3
    assert "\x1b" not in err
