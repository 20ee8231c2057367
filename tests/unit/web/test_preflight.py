"""What a pre-flight's page and form make of its report and of what was filled in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.web.launch.launch_preflight import plan_of, planned
from app.web.run.finding_rows import headline as found_headline
from app.web.run.run_preflight import (
    foreseen_rows,
    headline,
    lacking_rows,
    library_rows,
    rests_on,
    unforeseen_rows,
)
from app.web.run.stage import Stage
from runners.plan import script_folders
from runners.plan.own_script import OwnScript

REPORT: dict[str, Any] = {
    "framework": "tensorflow",
    "again": "python3 -m app preflight -- train.py",
    "gpus": 2,
    "gpus_named": 2,
    "steps": 3,
    "kernel_table": "the kernel table of TensorFlow 2.21.0, CUDA 12.5.1",
    "findings": [
        {
            "severity": "warning",
            "code": "no-kernel",
            "site": None,
            "summary": "Unique falls.",
            "confidence": "medium",
            "why": "nobody asked",
            "rules": ["one", "two"],
            "fix": None,
        }
    ],
    "no_kernel": [
        {"op": "Unique", "site": "a.py:1", "kernel": "for CPU", "from": "t", "confidence": "high", "why": ""}
    ],
    "unforeseen": [{"what": "steps", "site": None, "count": 1, "why": "there were none"}],
}


@pytest.fixture
def scripts_allowed(tmp_path: Path) -> Iterator[None]:
    script_folders.allow([str(tmp_path)])
    yield
    script_folders.allow([])


def test_the_headline_says_for_what_from_what_and_by_what() -> None:
    by = "the kernel table of TensorFlow 2.21.0, CUDA 12.5.1"
    assert headline(REPORT) == f"for 2 GPUs (as the script names), from 3 steps after the first, by {by}"
    unnamed = REPORT | {"gpus": 1, "gpus_named": 0, "steps": None, "kernel_table": ""}
    assert headline(unnamed) == (
        "for 1 GPU (the script names no GPU), from all that ran, which was no optimizer step, by the contexts"
        " that the code names"
    )
    assert headline(REPORT | {"gpus": 4}).startswith("for 4 GPUs (the script names 2), ")


def test_what_all_findings_rest_on_is_told_once() -> None:
    one = REPORT["findings"][0]
    several = REPORT | {"findings": [one, one | {"rules": ["one"]}]}
    assert rests_on(several) == "Confidence of each: medium: nobody asked. Each rests on this: one."
    rows = foreseen_rows(several, lambda path: None)
    assert [(row["because"], row["evidence"]) for row in rows] == [("", "and by the rule: two"), ("", "")]
    unlike = REPORT | {"findings": [one, one | {"rules": ["three"], "confidence": "high"}]}
    assert rests_on(unlike) == ""
    assert rests_on(REPORT) == ""


def test_every_prediction_stands_with_its_confidence_and_rules() -> None:
    [row] = foreseen_rows(REPORT, lambda path: None)
    assert (row["site"], row["quiet"], row["excerpt"]) == ("", False, None)
    assert (row["because"], row["evidence"]) == (
        "Confidence: medium, nobody asked.",
        "rule: one\nrule: two",
    )
    at = [REPORT["findings"][0] | {"site": "a.py:2"}]
    [row] = foreseen_rows(REPORT | {"findings": at}, {"a.py": "x = 1\ny = unique(x)\n"}.get)
    assert row["excerpt"]["lines"] == ["x = 1", "y = unique(x)"]
    diff = "@@ a.py:2 @@\n x = 1\n-y = unique(x)\n+y = near(x)"
    [row] = foreseen_rows(REPORT | {"findings": [at[0] | {"repair": {"words": "Near.", "diff": diff}}]}, str)
    assert (row["fix"], [line["kind"] for line in row["change"]]) == ("Near.", ["kept", "removed", "added"])
    assert (row["id"], row["verify"], row["href"], row["tries"]) == ("no-kernel@a.py:2", "", "", [])
    loud, quiet = at[0], at[0] | {"severity": "info"}
    tried = {"no-kernel@a.py:2": [{"text": "later"}]}
    rows = foreseen_rows(REPORT | {"findings": [loud, quiet]}, str, "Try", link="#{}".format, tries=tried)
    assert [row["verify"] for row in rows] == ["Try", ""]
    assert (rows[0]["href"], rows[0]["tries"]) == ("#no-kernel@a.py:2", [{"text": "later"}])
    assert _texts(lacking_rows(REPORT)[0])["confidence"] == "high"
    assert [*map(_texts, unforeseen_rows(REPORT))] == [
        {"what": "steps", "line": "", "why": "there were none"}
    ]


def _texts(row: dict[str, Any]) -> dict[str, str]:
    return {name: cell["text"] for name, cell in row["cells"].items()}


def test_what_a_preflight_did_here_is_no_good_news() -> None:
    stage = Stage("finished", "TensorFlow", 1, True, flown=True)
    assert found_headline([], stage) == "none"
    assert stage.uncrossed == (
        "Nothing crossed here, without those GPUs; what would cross there is foreseen above."
    )
    assert stage.alone == "Here was one device only; what would cross with GPUs is foreseen above."
    assert Stage("finished", "TensorFlow", flown=True).uncrossed.startswith("Nothing was recorded")


def test_what_libraries_would_do_stands_with_its_rule() -> None:
    told = {"what": "No cuDNN.", "site": "a.py:3", "severity": "warning", "confidence": "medium", "why": "so"}
    [row] = library_rows({"libraries": [told | {"rule": "It is so", "source": "Keras"}]})
    assert row["cells"]["severity"]["tone"] == "alert"
    assert _texts(row) == {
        "what": "No cuDNN.",
        "line": "a.py:3",
        "severity": "warning",
        "confidence": "medium: so",
        "rule": "It is so (Keras)",
    }


def test_the_form_plans_a_preflight_of_the_script_without_gpus(
    tmp_path: Path, hopscope_home: Path, scripts_allowed: None
) -> None:
    (tmp_path / "train.py").write_text("import tensorflow\n")
    how = OwnScript(folder=str(tmp_path), script="train.py", arguments="--epochs 3")
    plan = plan_of(how, 4)
    assert plan.preflight is not None
    assert plan.preflight["gpus"] == 4
    assert plan.command[1:] == [str(tmp_path / "train.py"), "--epochs", "3"]
    assert (plan.env["HOPSCOPE_PREFLIGHT_GPUS"], plan.env["CUDA_VISIBLE_DEVICES"]) == ("4", "-1")
    assert plan.env["HOPSCOPE_PREFLIGHT_KERNELS"]


def test_a_preflight_that_cannot_run_says_why(
    tmp_path: Path, hopscope_home: Path, scripts_allowed: None
) -> None:
    (tmp_path / "train.py").write_text("import tensorflow\n")
    how = OwnScript(folder=str(tmp_path), script="train.py", python=str(tmp_path / "bin/python"))
    plan, reasons = planned(how, 0)
    assert plan is None and any("bin/python" in reason for reason in reasons)
    assert planned(OwnScript(folder=str(tmp_path), script=""), 0) == (None, ["no script is chosen"])
