"""Less usual ways of both frameworks' come to the same with the recorder as without, even where it fails."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from probes.trace.guard import FAILED
from tests.integration.recording import SCRIPTS, Recorded, by, record

SCRIPT = SCRIPTS / "unusual.py"
MADE = "made to fail"
LIMIT_S = 200


class Runs(NamedTuple):
    """What became of each case, by its name."""

    plain: dict[str, str]
    recorded: dict[str, str]
    broken: dict[str, str]
    """With all of the recorder's own functions made to raise."""
    run: Recorded


def cases(text: str) -> dict[str, str]:
    lines = (line.partition(": ") for line in text.splitlines() if line.startswith("try_"))
    return {name: told for name, _, told in lines}


@pytest.fixture(scope="module", params=["tensorflow", "mxnet"])
def runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    framework: str = request.param
    python: Path = request.getfixturevalue("mx_python" if framework == "mxnet" else "tf_python")
    command = [str(python), str(SCRIPT), framework]
    plain = subprocess.run(
        command, capture_output=True, text=True, errors="replace", timeout=LIMIT_S, check=True
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOPSCOPE_HOME", str(tmp_path_factory.mktemp("home")))
        run = record(python, SCRIPT, framework, "broken", framework=framework, may_fail=True)
    assert run.run.state == "finished", run.log[-2000:]
    whole, _, broken = run.log.partition("\nbroken\n")
    return Runs(cases(plain.stdout), cases(whole), cases(broken), run)


def test_each_comes_to_the_same_as_without_the_recorder(runs: Runs) -> None:
    assert len(runs.plain) > 50
    assert runs.recorded == runs.plain


def test_a_recorder_all_of_which_fails_changes_nothing(runs: Runs) -> None:
    assert runs.broken == runs.plain


def test_the_recorder_fails_at_none_of_them(runs: Runs) -> None:
    why = [row["why"] for row in runs.run.report["unseen"]]
    assert any(FAILED in one and MADE in one for one in why)
    assert [one for one in why if FAILED in one and MADE not in one] == []


def test_variables_of_a_loaded_model_are_followed_like_others(tf_python: Path, hopscope_home: Path) -> None:
    run = record(tf_python, SCRIPTS / "tf_saved_model.py")
    assert (run.run.state, run.run.exit_code) == ("finished", 0), run.log[-2000:]

    def site(comment: str) -> str:
        lines = (SCRIPTS / "tf_saved_model.py").read_text().splitlines()
        return f"tf_saved_model.py:{next(n for n, text in enumerate(lines, 1) if text.endswith(comment))}"

    (home,) = by(run.report["findings"], code="variable-home")
    assert (home["severity"], home["site"]) == ("warning", site("# served elsewhere"))
    (drift,) = by(run.report["findings"], code="replica-drift")
    assert (drift["severity"], drift["site"]) == ("error", site("# trained apart"))
    assert site("# loaded to be trained") in str(drift)
