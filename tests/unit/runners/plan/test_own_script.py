"""Scripts of a user's own: what may be launched from the page, and what is said of what may not."""

from __future__ import annotations

import json
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from runners.environments import interpreters
from runners.errors import UsageError
from runners.plan import own_script, script_folders
from runners.plan.own_script import OwnScript, plan_own, read_variables, remember, remembered, split_arguments
from runners.plan.plan import INJECT, Plan
from runners.runs import registry


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    (tmp_path / "home").mkdir()
    yield
    script_folders.allow([])


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The allowed folder, with what leads out of it, beside one that is not allowed."""
    folder = tmp_path / "project"
    outside = tmp_path / "project-secret"
    for place in (folder / "pack" / "deep", outside, folder / "venv" / "bin", folder / ".hidden"):
        place.mkdir(parents=True)
    (folder / "venv" / "pyvenv.cfg").touch()
    for file in ("train.py", "pack/__init__.py", "pack/go.py", "pack/deep/late.py", "venv/bin/activate.py"):
        (folder / file).write_text("import mxnet\n")
    (folder / ".hidden" / "no.py").touch()
    (folder / "notes.txt").touch()
    (outside / "secret.py").write_text("import mxnet\n")
    (folder / "link.py").symlink_to(outside / "secret.py")
    (folder / "linked").symlink_to(outside)
    (folder / "round").symlink_to(folder)
    (folder / "also.py").symlink_to(folder / "pack" / "go.py")
    script_folders.allow([folder])
    return folder


def planned(project: Path, **facts: object) -> Plan:
    return plan_own(OwnScript.read({"folder": str(project), **facts}))


def test_lists_what_is_inside(project: Path) -> None:
    found = script_folders.scripts(project)
    assert found == ["also.py", "train.py", "pack/__init__.py", "pack/go.py", "pack/deep/late.py"]


@pytest.mark.parametrize(
    "script",
    [
        "../project-secret/secret.py",
        "pack/../../project-secret/secret.py",
        "link.py",
        "linked/secret.py",
        "round/linked/secret.py",
        "{outside}/secret.py",
        "/etc/passwd",
    ],
)
def test_nothing_outside_is_planned(project: Path, script: str) -> None:
    named = script.replace("{outside}", f"{project}-secret")
    with pytest.raises(UsageError, match="leads to no folder whose scripts may be launched"):
        planned(project, script=named)


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"script": "train.py", "cwd": ".."}, "leads to no folder"),
        ({"script": "train.py", "cwd": "linked"}, "leads to no folder"),
        ({"script": "train.py", "cwd": "none"}, "the working directory .* does not exist"),
        ({"script": "train.py", "folder": "/etc"}, "/etc is not a folder whose scripts may be launched"),
        ({"script": "train.py", "folder": "{project}/pack"}, "is not a folder whose"),
        ({"script": ""}, "no script is chosen"),
        ({"script": "~/train.py"}, "there is no script ~/train.py in"),
        ({"script": "none.py"}, "there is no script none.py in"),
        ({"script": "notes.txt"}, "does not end in .py"),
        ({"script": "a\0b.py"}, "is not a path"),
        ({"script": "timeit", "module": True}, "there is no module timeit in .*; the page launches those"),
        ({"script": "linked.secret", "module": True}, "leads to no folder"),
        ({"script": "-c", "module": True}, "is not a module's name"),
        ({"script": "pack/go.py", "module": True}, "is not a module's name"),
        ({"script": "train.py", "arguments": "'open"}, "the arguments cannot be split: no closing quotation"),
    ],
)
def test_what_is_said_of_what_cannot_be(project: Path, facts: dict[str, object], words: str) -> None:
    given = {
        name: value.replace("{project}", str(project)) if isinstance(value, str) else value
        for name, value in facts.items()
    }
    with pytest.raises(UsageError, match=words):
        planned(project, **given)


def test_without_a_named_folder_nothing_may_be_launched(project: Path) -> None:
    script_folders.allow([])
    with pytest.raises(UsageError, match="is not a folder whose scripts may be launched"):
        planned(project, script="train.py")
    with pytest.raises(UsageError, match=r"none was named .* \(serve --scripts FOLDER\)"):
        script_folders.inside(project / "train.py")
    with pytest.raises(UsageError, match="there is no such folder"):
        script_folders.allow([project / "none"])


def test_a_folder_that_becomes_a_link_is_no_longer_allowed(project: Path, tmp_path: Path) -> None:
    project.rename(tmp_path / "moved")
    project.symlink_to(tmp_path / "project-secret")
    with pytest.raises(UsageError, match="leads to no folder"):
        planned(project, script="secret.py")


def test_the_plan_says_exactly_what_runs(project: Path) -> None:
    plan = planned(
        project,
        script="also.py",
        arguments="--epochs 3 'two words'",
        variables="MINE=a b\n\nexport PYTHONPATH=/mine\nEMPTY=",
        cwd="pack/deep",
        devices=["cpu:0"],
    )
    # A link is followed before the launch, so that changing it in between changes nothing.
    assert plan.command[1:] == [str(project / "pack" / "go.py"), "--epochs", "3", "two words"]
    assert (plan.cwd, plan.framework, plan.origin) == (project / "pack" / "deep", "mxnet", "page")
    assert {name: plan.env[name] for name in ("MINE", "EMPTY", "PYTHONPATH", "CUDA_VISIBLE_DEVICES")} == {
        "MINE": "a b",
        "EMPTY": "",
        "PYTHONPATH": f"{INJECT}:/mine",
        "CUDA_VISIBLE_DEVICES": "-1",
    }
    module = planned(project, script="pack.go", module=True)
    assert (module.command[1:], module.cwd) == (["-m", "pack.go"], project)
    assert planned(project, script="pack/go.py").cwd == project / "pack"


def test_a_variable_that_the_devices_set_too_is_refused(project: Path) -> None:
    plan = planned(project, script="train.py", variables="CUDA_VISIBLE_DEVICES=1", devices=["cpu:0"])
    assert any("CUDA_VISIBLE_DEVICES is given among the variables" in problem for problem in plan.problems)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A=1\nB", "line 2 of the variables is not NAME=VALUE: 'B'"),
        ("1A=2", "line 1 of the variables is not NAME=VALUE"),
        ("HOPSCOPE_HOME=/x", "HOPSCOPE_HOME is Hopscope's own"),
        ("A=1\nA=2", "line 2 of the variables gives A a second time"),
    ],
)
def test_variables(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        read_variables(text)


def test_arguments_are_split_and_nothing_is_expanded() -> None:
    assert split_arguments("a 'b c' $HOME *.py ; rm -rf x") == [
        *("a", "b c", "$HOME", "*.py", ";", "rm", "-rf", "x"),
    ]


def answered(python: str | Path) -> interpreters.Interpreter:
    deadline = time.monotonic() + 60
    while (found := interpreters.check(python)).checking:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return found


def test_an_interpreter_without_a_framework_is_told(project: Path, tmp_path: Path) -> None:
    # This one is the dashboard's, which has neither.
    first = interpreters.check(sys.executable)
    assert first.checking or first.problem
    found = answered(sys.executable)
    version = ".".join(map(str, sys.version_info[:3]))
    assert (
        found.problem
        == f"{sys.executable} (Python {version}) has neither TensorFlow nor MXNet; install one there"
    )
    plan = planned(project, script="train.py", python=sys.executable)
    assert found.problem in plan.problems


def test_an_interpreter_with_another_framework_is_told(project: Path, mx_python: Path) -> None:
    found = answered(mx_python)
    assert (found.problem, list(found.frameworks)) == (None, ["mxnet"])
    assert found.words == f"Python {found.version} with MXNet {found.frameworks['mxnet']}"
    assert not planned(project, script="train.py", python=str(mx_python)).problems
    plan = planned(project, script="train.py", python=str(mx_python), framework="tensorflow")
    assert f"{mx_python} has no TensorFlow, which the script runs in: it has {found.words}" in plan.problems


def test_what_is_no_interpreter_is_not_run(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    (tmp_path / "tool").write_text(f"#!/bin/sh\ntouch {ran}\n")
    (tmp_path / "python").write_text("no program")
    (tmp_path / "env" / "bin").mkdir(parents=True)
    (tmp_path / "env" / "bin" / "python").touch()
    (tmp_path / "python3").symlink_to(tmp_path / "gone")
    (tmp_path / "tool").chmod(0o755)
    said = {
        name: interpreters.check(tmp_path / name).problem or ""
        for name in ("tool", "python", "env", "python3")
    }
    assert "is not named as an interpreter is" in said["tool"]
    assert not ran.exists()
    assert said["python"].endswith("cannot be run: permission denied")
    assert said["env"].endswith(f"did you mean {tmp_path}/env/bin/python?")
    assert said["python3"].endswith("which is gone: make that environment anew")
    assert interpreters.check("").problem == "no interpreter is named"
    assert (interpreters.check(tmp_path / "none").problem or "").startswith("there is no Python interpreter")
    (tmp_path / "python").write_text("#!/bin/sh\nexit 0\n")
    (tmp_path / "python").chmod(0o755)
    assert (answered(tmp_path / "python").problem or "").endswith(
        "does not answer as a Python interpreter does"
    )


def test_environments_nearby(project: Path) -> None:
    (project / "venv" / "bin" / "python").touch()
    assert project / "venv" / "bin" / "python" in interpreters.nearby([project])


def test_what_was_launched_is_remembered_for_its_owner_alone(project: Path, tmp_path: Path) -> None:
    first = OwnScript(str(project), "train.py", arguments="--epochs 1")
    second = OwnScript(
        str(project), "pack.go", module=True, devices=("gpu:1", "gpu:0"), variables="KEY=secret"
    )
    for own in (first, second, first):
        remember(own)
    assert remembered() == [first, second]
    file = tmp_path / "home" / "own-scripts.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in file.parent.iterdir()] == ["own-scripts.json"]
    script_folders.allow([])
    assert remembered() == []
    script_folders.allow([project])
    file.write_text(
        json.dumps({"launched": [{"folder": str(project), "script": "x.py", "devices": 3, "new": 1}]})
    )
    assert remembered() == [OwnScript(str(project), "x.py")]
    file.write_text("{")
    assert remembered() == []


@pytest.mark.parametrize(
    "kept", ["{}", "[]", '{"launched": 5}', '{"launched": [5]}', "[" * 100_000, "9" * 5000]
)
def test_a_damaged_memory_of_what_was_launched_is_none(project: Path, kept: str) -> None:
    script_folders.allow([project])
    (registry.home() / own_script.REMEMBERED).write_text(kept)
    assert own_script.remembered() == []
    own_script.remember(OwnScript(str(project), "train.py"))
    assert [own.script for own in own_script.remembered()] == ["train.py"]


@pytest.mark.parametrize("name", ["x" * 300, "x/" * 3000 + "y", "a\0b"])
@pytest.mark.parametrize("field", ["script", "cwd", "folder"])
def test_a_path_that_no_file_can_have_is_said_to_be_none(project: Path, name: str, field: str) -> None:
    script_folders.allow([project])
    own = OwnScript.read({"folder": str(project), "script": "train.py", field: name})
    with pytest.raises(UsageError, match="is not a"):
        plan_own(own)
