"""Running a run again with edited copies: as it would be with those files, which stay as they are."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.reports.run_report import run_report
from runners.errors import UsageError
from runners.plan import launcher
from runners.plan.plan import LaunchOptions
from runners.plan.script_plan import plan_script
from runners.plan.trials import plan_trial
from runners.runs import registry
from runners.runs.run import Run
from tests.integration.waiting import ended

SCRIPT = """\
import inspect, json, linecache, os, sys
import helper

def told():
    return 1

linecache.updatecache(__file__, globals())  # as AutoGraph does
print(json.dumps({
    "file": __file__,
    "name": __name__,
    "arguments": sys.argv[1:],
    "script": sys.argv[0],
    "folder": sys.path[0],
    "helper": [helper.WORD, helper.__file__],
    "source": inspect.getsource(told),
    "names": sorted(name for name in globals() if not name.startswith("__")),
}))
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    home = tmp_path / "home"
    monkeypatch.setenv("HOPSCOPE_HOME", str(home))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    yield home
    for run in registry.runs():
        if not run.ended:
            registry.stop(run, grace_s=0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "train.py").write_text(SCRIPT)
    (folder / "helper.py").write_text("WORD = 'before'\n")
    return folder


def first(folder: Path, *words: str, module: bool = False) -> Run:
    plan = plan_script(
        words, framework="tensorflow", launch=LaunchOptions(python=sys.executable), cwd=folder, module=module
    )
    return ended(launcher.launch(plan))


def printed(run: Run) -> dict[str, object]:
    told: dict[str, object] = json.loads(run.log.read_text().splitlines()[-1])
    return told


def again(run: Run, edits: dict[Path, str]) -> Run:
    plan = plan_trial(run, "host-sync@train.py:1", edits={str(path): text for path, text in edits.items()})
    assert plan.problems == []
    return ended(launcher.launch(plan))


@pytest.mark.parametrize("words", [("train.py",), ("train",)])
def test_a_program_of_edited_copies_is_what_it_would_be_with_those_files(
    folder: Path, words: tuple[str, ...]
) -> None:
    """GIVEN an edit of the script and of a module WHEN run again THEN only what they say differs."""
    before = first(folder, *words, "--epochs", "3", module=words == ("train",))
    edited = SCRIPT.replace("return 1", "return 2  # edited")
    after = again(before, {folder / "train.py": edited, folder / "helper.py": "WORD = 'after'\n"})
    assert after.exit_code == 0, after.log.read_text()
    was, now = printed(before), printed(after)
    assert now["helper"] == ["after", str(folder / "helper.py")]
    assert now["source"] == "def told():\n    return 2  # edited\n"
    assert {**now, "helper": 0, "source": 0} == {**was, "helper": 0, "source": 0}
    assert now["arguments"] == ["--epochs", "3"]
    assert after.spec["trial"] == {
        "of": before.id,
        "finding": "host-sync@train.py:1",
        "edited": [str(folder / "train.py"), str(folder / "helper.py")],
    }
    # The user's files are as they were, and no bytecode of a copy is taken for theirs.
    assert (folder / "train.py").read_text() == SCRIPT
    assert printed(first(folder, "train.py"))["helper"] == ["before", str(folder / "helper.py")]


def test_a_run_with_copies_can_itself_be_tried_again(folder: Path) -> None:
    once = again(first(folder, "train.py"), {folder / "helper.py": "WORD = 'second'\n"})
    twice = again(once, {folder / "helper.py": "WORD = 'third'\n"})
    assert printed(twice)["helper"] == ["third", str(folder / "helper.py")]
    assert printed(twice)["script"] == "train.py"


def test_an_error_shows_the_copys_lines(folder: Path) -> None:
    after = again(first(folder, "train.py"), {folder / "train.py": "x = 1\n\nraise ValueError(x)  # mine\n"})
    assert after.exit_code == 1
    assert 'train.py", line 3, in <module>\n    raise ValueError(x)  # mine\n' in after.log.read_text()


def test_what_cannot_be_tried_is_told_before(folder: Path) -> None:
    run = first(folder, "train.py")
    broken = plan_trial(run, "host-sync@train.py:1", edits={str(folder / "train.py"): "def f(:\n"})
    assert broken.problems == ["the edited text is no Python at line 1: invalid syntax"]
    gone = plan_trial(run, "host-sync@train.py:1", edits={str(folder / "gone.py"): "x = 1\n"})
    assert gone.problems == [f"the file {folder / 'gone.py'} is not there any more"]
    spec = {**run.spec, "kind": "imported"}
    (run.path / "spec.json").write_text(json.dumps(spec))
    with pytest.raises(UsageError, match="was not launched by Hopscope"):
        plan_trial(run.reload(), "host-sync@train.py:1", edits={})


MXNET = """\
import mxnet as mx

x = mx.nd.ones((64, 64), ctx=mx.cpu(1))
for step in range(6):
    h = mx.nd.dot(x, x)
    y = mx.nd.array(h.asnumpy(), ctx=mx.cpu(2))
mx.nd.waitall()
"""


def test_a_finding_is_gone_where_the_copy_mends_it(folder: Path, mx_python: Path) -> None:
    """GIVEN a bounce WHEN a copy takes the straight way THEN it is gone; the kept source is the copy's."""
    (folder / "train.py").write_text(MXNET)
    plan = plan_script(
        ["train.py"], framework="mxnet", launch=LaunchOptions(python=str(mx_python)), cwd=folder
    )
    before = ended(launcher.launch(plan))
    mended = MXNET.replace("mx.nd.array(h.asnumpy(), ctx=mx.cpu(2))", "h.as_in_context(mx.cpu(2))")
    after = again(before, {folder / "train.py": mended})
    was, now = run_report(before.path), run_report(after.path)
    assert [(row["code"], row["site"]) for row in was["findings"] if row["code"] == "bounce"] == [
        ("bounce", "train.py:6")
    ]
    assert "bounce" not in [row["code"] for row in now["findings"]]
    (copied,) = [row for row in now["findings"] if row["code"] == "explicit"]
    assert copied["site"] == "train.py:6"
    assert "h.as_in_context(mx.cpu(2))" in "\n".join(copied["source"]["lines"])
