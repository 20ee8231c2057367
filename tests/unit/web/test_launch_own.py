"""The Launch page's form for scripts of a user's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app import access
from app.web.launch import launch_own
from runners.environments import interpreters
from runners.machine import monitor
from runners.machine.gpus import Gpu, Gpus
from runners.plan import own_script, script_folders, script_plan
from runners.plan.own_script import OwnScript
from tests.unit.machine_snapshots import gpu, machine
from tests.unit.web.app_pages import page_of


def form() -> None:
    import streamlit as st

    from app.web.launch.launch_own import own_script_panel

    left, right = st.columns(2)
    own_script_panel(left, right)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    folder = tmp_path / "project"
    (folder / "pack").mkdir(parents=True)
    for name in ("train.py", "pack/__init__.py", "pack/go.py"):
        (folder / name).write_text("import tensorflow\n")
    script_folders.allow([folder])
    monkeypatch.setattr(access, "role", lambda: "operator")
    yield folder
    script_folders.allow([])


@pytest.fixture
def three_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    cards = tuple(Gpu(index, f"GPU-{index}", f"0:{index}", "H200", None) for index in range(3))

    class Watching:
        snapshot = machine(*(gpu(index) for index in range(3)))
        state = "replayed"

    for module in (launch_own, script_plan):
        monkeypatch.setattr(module, "known_gpus", lambda: Gpus(cards, None))
    monkeypatch.setattr(monitor, "shared", Watching)


def text(page: AppTest) -> str:
    assert not page.exception, page.exception
    return page.code[0].value


def choose(page: AppTest, name: str, value: Any) -> AppTest:
    return page.selectbox(key=f"own-{name}").set_value(value).run()


def test_gpus_are_given_in_the_order_in_which_they_are_picked(project: Path, three_cards: None) -> None:
    page = choose(page_of(form).run(), "script", "train.py")
    assert "CUDA_VISIBLE_DEVICES" not in text(page)
    page.button_group(key="own-devices-kind").set_value("gpus").run()
    page.multiselect(key="own-devices").set_value(["gpu:2", "gpu:0"]).run()
    assert "export CUDA_VISIBLE_DEVICES=GPU-2,GPU-0" in text(page)
    page.button_group(key="own-devices-kind").set_value("host").run()
    assert "export CUDA_VISIBLE_DEVICES=-1" in text(page)


def test_a_module_and_its_working_directory(project: Path) -> None:
    page = page_of(form).run()
    page.button_group(key="own-kind").set_value("Module (-m)").run()
    page.text_input(key="own-module").set_value("pack.go").run()
    page.text_input(key="own-arguments").set_value("--name 'two words'").run()
    assert f"cd {project}\n" in text(page)
    assert text(page).endswith("-m pack.go --name 'two words'")
    assert "2 arguments: `--name` `'two words'`" in [caption.value for caption in page.caption]
    page.text_input(key="own-module").set_value("timeit").run()
    assert not page.exception and not page.code
    assert "there is no module timeit" in page.info[0].value
    page.text_input(key="own-cwd").set_value("..").run()
    assert "leads to no folder whose scripts may be launched" in page.info[0].value


def test_what_was_launched_before_fills_the_form(project: Path) -> None:
    first = OwnScript(str(project), "train.py", arguments="--epochs 1", variables="A=1")
    second = OwnScript(str(project), "pack.go", module=True, cwd="", framework="tensorflow")
    own_script.remember(first)
    own_script.remember(second)
    page = page_of(form).run()
    assert text(page).endswith("-m pack.go")
    page.selectbox(key="own-before").set_value(1).run()
    assert text(page).endswith("train.py --epochs 1")
    assert "export A=1" in text(page)
    assert page.selectbox(key="own-before").value is None


def test_two_folders_tell_their_scripts_apart(project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "only.py").write_text("import tensorflow\n")
    script_folders.allow([project, other])
    page = page_of(form).run()
    choose(page, "folder", str(other))
    assert page.selectbox(key="own-script").options == ["only.py"]
    choose(page, "script", "only.py")
    assert text(page).endswith(f"{other}/only.py")


def test_a_viewer_gets_nothing_and_nothing_is_run_for_one(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any) -> Any:
        raise AssertionError

    own_script.remember(OwnScript(str(project), "train.py", python="/usr/bin/python3"))
    for module, name in ((interpreters, "check"), (script_folders, "scripts"), (own_script, "plan_own")):
        monkeypatch.setattr(module, name, never)
    for role in ("viewer", None):
        monkeypatch.setattr(access, "role", lambda role=role: role)
        page = page_of(form).run()
        assert not page.exception
        assert "takes the operator's address" in page.info[0].value
        assert not [*page.button, *page.selectbox, *page.text_input, *page.text_area, *page.code]


def test_without_a_folder_it_says_how_to_name_one(project: Path) -> None:
    script_folders.allow([])
    page = page_of(form).run()
    assert "No folder was named" in page.info[0].value
    assert page.code[0].value == "python3 -m app serve --scripts ~/my-project"
    assert not page.button
