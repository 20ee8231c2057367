"""MXNet's arrays that nobody gave a context: told where they are made only to be copied, not elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.recording import SCRIPTS, Recorded, by, record

SCRIPT = "mx_from_nothing.py"


@pytest.fixture(scope="module")
def made(mx_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOPSCOPE_HOME", str(tmp_path_factory.mktemp("home")))
        run = record(mx_python, SCRIPTS / SCRIPT, framework="mxnet")
    assert run.run.state == "finished", run.log[-2000:]
    return run


def codes(run: Recorded, comment: str) -> list[tuple[str, str]]:
    lines = (SCRIPTS / SCRIPT).read_text().splitlines()
    number = next(n for n, text in enumerate(lines, 1) if text.endswith(f"  # {comment}"))
    return [(row["code"], row["severity"]) for row in by(run.report["findings"], site=f"{SCRIPT}:{number}")]


@pytest.mark.parametrize(
    "comment",
    [
        *("drawn", "drawn over several lines", "drawn by a function that hands a context on"),
        *("with no context in an argument", "assigned", "a range"),
        *("drawn by a function of the code's own", "by another statement", "for a buffer"),
        "drawn, and a part of it sent",
    ],
)
def test_what_is_made_nowhere_to_be_copied_lacks_a_context(made: Recorded, comment: str) -> None:
    assert codes(made, comment) == [("default-device", "warning")]


@pytest.mark.parametrize(
    "comment",
    [
        *("with a context", "with a context by its place", "in a context", "of numpy's data", "cut for two"),
        *("a batch", "of data and of nothing", "with a use here", "to one card", "to another"),
        *("a part of what was made once", "from a generator", "and to Python", "and summed here", "a part"),
        *("to the one", "to the other", "and to a net here", "handed in"),
    ],
)
def test_what_the_host_is_to_make_or_hold_is_a_note(made: Recorded, comment: str) -> None:
    assert codes(made, comment) == [("explicit", "info")]
