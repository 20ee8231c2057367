"""A recorder that fails, whatever of it, leaves the program alone and says what went unseen."""

from __future__ import annotations

from pathlib import Path

import pytest

from probes.trace.guard import FAILED
from tests.integration.recording import SCRIPTS, record


@pytest.mark.parametrize(
    ("framework", "printed", "unseen"),
    [
        (
            "mxnet",
            "trained 32.0 32.0",
            {"operators", "waits and values that Python takes", "backward passes"},
        ),
        ("tensorflow", "trained 5.0 6.0", {"eager ops", "the making of graphs", "calls of functions"}),
    ],
)
def test_the_program_goes_on(
    framework: str, printed: str, unseen: set[str], hopscope_home: Path, request: pytest.FixtureRequest
) -> None:
    python: Path = request.getfixturevalue("mx_python" if framework == "mxnet" else "tf_python")
    recorded = record(python, SCRIPTS / "broken_recorder.py", framework, framework=framework, may_fail=True)
    assert recorded.run.state == "finished", recorded.log[-2000:]
    assert printed in recorded.log
    failures = {row["what"]: row["why"] for row in recorded.report["unseen"]}
    assert unseen <= set(failures)
    assert all(failures[what] == f"{FAILED}: ValueError: made to fail" for what in unseen)
