"""Arrays of MXNet that are copied there and back unchanged, or again and again; each array by itself."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

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


def site(comment: str) -> str:
    lines = (SCRIPTS / SCRIPT).read_text().splitlines()
    number = next(n for n, text in enumerate(lines, 1) if text.endswith(f"  # {comment}"))
    return f"{SCRIPT}:{number}"


def findings(run: Recorded, comment: str) -> list[Mapping[str, Any]]:
    return by(run.report["findings"], site=site(comment))


def codes(run: Recorded, comment: str) -> list[tuple[str, str]]:
    return [(finding["code"], finding["severity"]) for finding in findings(run, comment)]


@pytest.mark.parametrize("comment", ["out, for nothing", "out, for a shape"])
def test_what_comes_back_in_another_shape_only_went_for_nothing(moved: Recorded, comment: str) -> None:
    assert codes(moved, comment) == [("bounce", "warning")]


@pytest.mark.parametrize(
    "comment", ["out, to be added to", "out, to be changed", "out, for a new first row", "out, for a part"]
)
def test_what_is_changed_there_even_by_a_view_is_no_detour(moved: Recorded, comment: str) -> None:
    assert codes(moved, comment) == [("explicit", "info")]


@pytest.mark.parametrize("comment", ["the same", "the same of a table", "the same of a list"])
def test_one_unchanged_array_that_is_copied_each_time_is_a_redundant_copy(
    moved: Recorded, comment: str
) -> None:
    assert codes(moved, comment) == [("redundant-copy", "warning")]


@pytest.mark.parametrize(
    "comment",
    [
        *("of a list of batches", "written whole", "written in part", "written as another"),
        *("filled by a copy", "to be written to", "to be written to in part", "a running mean"),
        *("a gradient", "a weight"),
    ],
)
def test_what_is_new_or_written_to_between_is_copied_for_a_reason(moved: Recorded, comment: str) -> None:
    assert codes(moved, comment) == [("explicit", "info")]


def test_new_ones_that_are_made_only_to_be_copied_lack_a_context(moved: Recorded) -> None:
    assert codes(moved, "new ones") == [("default-device", "warning")]


@pytest.mark.parametrize(
    ("comment", "op", "made"),
    [
        ("what the code wrote there", "_copyto", "into a gradient"),
        ("back after a backward pass", "_zeros", "room for a gradient"),
    ],
)
def test_what_the_code_wrote_to_a_gradient_holds_until_a_backward_pass(
    moved: Recorded, comment: str, op: str, made: str
) -> None:
    (row,) = by(moved.report["hops"], site=site(comment))
    assert (row["producer"], row["producer_site"], row["count"]) == (op, site(made), 6)


@pytest.mark.parametrize(
    ("comment", "by"),
    [
        ("initialised", "Gluon's initialisation"),
        ("initialised when it is first used", "Gluon's initialisation"),
        ("loaded", "Gluon's loading of parameters"),
    ],
)
def test_what_gluon_copies_for_itself_is_told_as_its_doing(moved: Recorded, comment: str, by: str) -> None:
    (finding,) = findings(moved, comment)
    assert (finding["code"], finding["severity"]) == ("explicit", "info")
    assert f" by {by}, cpu:0 to cpu:1: " in finding["summary"]


def test_what_got_new_values_without_an_op_of_its_own_is_no_detour(moved: Recorded) -> None:
    assert [f["site"] for f in moved.report["findings"] if f["code"] == "bounce"] == [
        site(comment) for comment in ("out, for nothing", "out, for a shape")
    ]
