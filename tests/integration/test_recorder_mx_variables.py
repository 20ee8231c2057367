"""MXNet's variables on the host: told where autograd records their copy, not where they are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.recording import SCRIPTS, Recorded, by, record

SCRIPT = "mx_variables_on_host.py"


@pytest.fixture(scope="module")
def copied(mx_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOPSCOPE_HOME", str(tmp_path_factory.mktemp("home")))
        run = record(mx_python, SCRIPTS / SCRIPT, framework="mxnet")
    assert run.run.state == "finished", run.log[-2000:]
    return run


def line(comment: str) -> int:
    lines = (SCRIPTS / SCRIPT).read_text().splitlines()
    return next(n for n, text in enumerate(lines, 1) if text.endswith(f"  # {comment}"))


def codes(run: Recorded, comment: str) -> set[tuple[str, str]]:
    found = by(run.report["findings"], site=f"{SCRIPT}:{line(comment)}")
    return {(row["code"], row["severity"]) for row in found}


@pytest.mark.parametrize("comment", ["a parameter", "for two cards", "made by hand"])
def test_a_variable_that_the_model_uses_away_from_its_home(copied: Recorded, comment: str) -> None:
    assert ("variable-home", "warning") in codes(copied, comment)


def test_its_name_its_gradient_and_its_copies_of_one_step_are_told(copied: Recorded) -> None:
    (row,) = by(copied.report["findings"], code="variable-home", site=f"{SCRIPT}:{line('a parameter')}")
    # 25 KiB there and back, two times in each step.
    assert row["summary"].startswith("p_table lives on cpu:0 and is read on cpu:1 at ")
    assert "100 KiB each step, with its gradient's way back" in row["summary"]
    assert row["evidence"]["unchanged_again"]


@pytest.mark.parametrize(
    ("comment", "code"),
    [
        *(("data", "explicit"), ("made of one", "explicit"), ("paused", "explicit")),
        *(("for a shadow", "explicit"), ("for other weights", "explicit"), ("a few values", "variable-home")),
    ],
)
def test_what_is_no_variable_of_the_models_is_a_note(copied: Recorded, comment: str, code: str) -> None:
    found = codes(copied, comment)
    assert (code, "info") in found and all(severity == "info" for _, severity in found)


def test_the_same_values_time_and_again_are_a_needless_copy(copied: Recorded) -> None:
    assert codes(copied, "frozen") == {("redundant-copy", "warning")}
