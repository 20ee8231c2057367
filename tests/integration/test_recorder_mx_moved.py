"""Arrays of MXNet that are copied there and back unchanged, or again and again; each array by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.recording import SCRIPTS, Recorded, by, record

SCRIPT = "mx_moved.py"


@pytest.fixture(scope="module")
def moved(mx_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOPSCOPE_HOME", str(tmp_path_factory.mktemp("home")))
        run = record(mx_python, SCRIPTS / SCRIPT, framework="mxnet")
    assert run.run.state == "finished", run.log[-2000:]
    return run


def codes(run: Recorded, comment: str) -> list[tuple[str, str]]:
    lines = (SCRIPTS / SCRIPT).read_text().splitlines()
    number = next(n for n, text in enumerate(lines, 1) if text.endswith(f"  # {comment}"))
    found = by(run.report["findings"], site=f"{SCRIPT}:{number}")
    return [(finding["code"], finding["severity"]) for finding in found]


@pytest.mark.parametrize("comment", ["out, for nothing", "out, for a shape"])
def test_what_comes_back_in_another_shape_only_went_for_nothing(moved: Recorded, comment: str) -> None:
    assert codes(moved, comment) == [("bounce", "warning")]


@pytest.mark.parametrize(
    "comment", ["out, to be added to", "out, to be changed", "out, for a new first row", "out, for a part"]
)
def test_what_is_changed_there_even_by_a_view_is_no_detour(moved: Recorded, comment: str) -> None:
    assert codes(moved, comment) == [("explicit", "info")]
