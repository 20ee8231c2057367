"""What the Launch page says of environments and plans."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app.web.shared import launching
from app.web.shared.launch_words import (
    blocking,
    changed_options,
    environment_words,
    option_label,
    plan_text,
    waiting,
)
from runners.catalogue import PROGRAMS
from runners.environments.environments import Environment
from runners.errors import UsageError
from runners.plan.launcher import plan_program
from runners.plan.plan import Plan
from runners.runs.run import Run
from tests.unit.machine_snapshots import gpu, machine
from tests.unit.web.app_pages import page_of


def environment(state: Any, **facts: Any) -> Environment:
    known: dict[str, Any] = {"reason": None, "progress": None, "step": None, "build": None, **facts}
    place = Path("/envs/tensorflow")
    return Environment(
        "tensorflow",
        place,
        place / "bin" / "python",
        state,
        known["reason"],
        known["progress"],
        known["step"],
        place.with_suffix(".log"),
        known["build"],
    )


def test_only_operators_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever page asks for it, also where the page was drawn for somebody else."""
    for role in (None, "viewer"):
        monkeypatch.setattr("app.access.role", lambda role=role: role)
        with pytest.raises(UsageError, match="only operators may launch"):
            launching.launch_once(None, {})  # type: ignore[arg-type]  # it looks at no plan


def test_each_state_says_what_it_is_and_why() -> None:
    versions = {"python": "3.11.7", "tensorflow": "2.21.0", "keras": "3.15.1", "wheel": "1"}
    ready = environment_words(environment("ready", build="cpu", reason="used as it is"), versions)
    assert ready.title == "TensorFlow 2.21.0 is ready"
    assert ready.detail == "CPU build · Python 3.11.7 · keras 3.15.1; used as it is"
    installing = environment_words(environment("installing", step="pip gets keras"), {})
    assert (installing.tone, installing.detail) == ("busy", "pip gets keras")
    failed = environment_words(environment("failed", reason="the disk is full"), {})
    assert (failed.tone, failed.detail) == ("alert", "the disk is full")
    assert environment_words(environment("missing"), {}).title == "TensorFlow is not installed"


def test_only_what_differs_from_the_defaults_is_given() -> None:
    program = PROGRAMS["tf-model-parallel"]
    values = {option.name: option.default for option in program.options}
    assert changed_options(program, values) == {}
    assert changed_options(program, values | {"layers": 8, "split": ""}) == {"layers": 8}


def test_the_plan_is_shown_as_a_shell_takes_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "with space"))
    lines = plan_text(plan_program("tf-model-parallel", stand_ins=3, steps=7)).splitlines()
    assert f"export HOPSCOPE_RUN_DIR='{tmp_path}/with space/runs/<run>'" in lines
    assert lines[-1].endswith("model_parallel/train.py --stand-ins 3 --steps 7")


def test_an_environment_that_is_not_there_is_no_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOPSCOPE_ENVS", str(tmp_path))
    monkeypatch.delenv("HOPSCOPE_TENSORFLOW", raising=False)
    missing = plan_program("tf-model-parallel", stand_ins=3)
    assert missing.unready and missing.unready in missing.problems and blocking(missing) == []
    assert "TensorFlow" in waiting(missing)
    wrong = plan_program("tf-model-parallel", stand_ins=3, options={"layers": 2})
    assert blocking(wrong) == ["layers=2 are too few for 3 devices"]


def test_options_are_labelled_as_people_write_them() -> None:
    labels = {option_label(option) for program in PROGRAMS.values() for option in program.options}
    assert {"Log every", "PS", "JIT compile (XLA)", "CUDA device order", "KVStore"} <= labels
    assert not [label for label in labels if "-" in label or label[0].islower()]


def test_a_button_pressed_twice_launches_once(monkeypatch: pytest.MonkeyPatch) -> None:
    launched: list[Plan] = []

    def launch(plan: Plan) -> Run:
        launched.append(plan)
        return Run(f"run-{len(launched)}", Path("/runs/x"), {}, {})

    monkeypatch.setattr("app.access.role", lambda: "operator")
    monkeypatch.setattr(launching, "launch", launch)
    plan = plan_program("tf-model-parallel", stand_ins=3)
    session: dict[Any, Any] = {}
    assert [launching.launch_once(plan, session) for _ in range(2)] == ["run-1", "run-1"]
    other = plan_program("tf-model-parallel", stand_ins=2)
    assert launching.launch_once(other, session) == "run-2"
    monkeypatch.setattr(launching, "SAME_S", 0.0)
    assert launching.launch_once(other, session) == "run-3"


def test_gpus_are_given_in_the_order_in_which_they_are_picked() -> None:
    def script() -> None:
        import streamlit as st

        from app.web.launch.launch_form import choose_devices
        from runners.catalogue import PROGRAMS
        from runners.machine.gpus import Gpu

        cards = tuple(Gpu(index, f"GPU-{index}", f"0:{index}", "H200", None) for index in range(3))
        chosen = choose_devices(PROGRAMS["tf-mirrored"], cards, usable=cards)
        st.text(",".join(chosen.shown()))

    page = page_of(script).run()
    assert not page.exception
    assert page.text[0].value == "gpu:0,gpu:1"
    page.multiselect[0].set_value(["gpu:2", "gpu:0"]).run()
    assert page.text[0].value == "gpu:2,gpu:0"


def test_idle_cards_are_preset_before_busy_ones_and_stay_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def script() -> None:
        import streamlit as st

        from app.web.launch.launch_form import choose_devices
        from runners.catalogue import PROGRAMS
        from runners.machine.gpus import Gpu

        cards = tuple(Gpu(index, f"GPU-{index}", f"0:{index}", "H200", None) for index in range(3))
        st.text(",".join(choose_devices(PROGRAMS["tf-mirrored"], cards, usable=cards).shown()))

    class Watching:
        snapshot = machine(
            *(gpu(index, utilization_gpu_percent=load) for index, load in enumerate((46, 0, 2)))
        )

    monkeypatch.setattr("app.web.launch.launch_form.monitor.shared", Watching)
    page = page_of(script).run()
    assert not page.exception
    assert page.text[0].value == "gpu:1,gpu:2"
    monkeypatch.setattr(Watching, "snapshot", machine(*(gpu(index) for index in range(3))))
    assert page.run().text[0].value == "gpu:1,gpu:2"
    assert "nvidia-smi" in page.multiselect[0].label
    # The address goes before the load.
    named = page_of(script)
    named.query_params["devices-tf-mirrored"] = ["gpu:0", "gpu:2"]
    assert named.run().text[0].value == "gpu:0,gpu:2"


@pytest.mark.parametrize(("usable", "chosen"), [(1, "gpu:1"), (0, "cpu:1,cpu:2")])
def test_cards_that_the_framework_cannot_use_are_not_taken_unasked(usable: int, chosen: str) -> None:
    def script(usable: int) -> None:
        import streamlit as st

        from app.web.launch.launch_form import choose_devices
        from runners.catalogue import PROGRAMS
        from runners.machine.gpus import Gpu

        cards = [Gpu(index, f"GPU-{index}", f"0:{index}", "H200", None) for index in range(2)]
        st.text(",".join(choose_devices(PROGRAMS["mx-module"], cards, cards[2 - usable :]).shown()))

    page = page_of(script, args=(usable,)).run()
    assert not page.exception
    assert page.text[0].value == chosen


@pytest.mark.parametrize("framework", ["mxnet", "tensorflow"])
def test_the_exact_mode_is_offered(framework: str) -> None:
    def script(framework: str) -> None:
        import streamlit as st

        from app.web.launch.launch_form import choose_exact

        st.text(choose_exact(framework))

    page = page_of(script, args=(framework,)).run()
    assert not page.exception
    assert page.text[0].value == "False"
    page.checkbox[0].check()
    assert page.run().text[0].value == "True"


def options_page(**address: str) -> AppTest:
    def script() -> None:
        import streamlit as st

        from app.web.launch.launch_form import Devices, choose_framework, choose_options, choose_program

        program = choose_program(choose_framework())
        values = choose_options(program, Devices(stand_ins=2))
        st.json({"program": program.name, **values})

    page = page_of(script)
    for name, value in address.items():
        page.query_params[name] = value
    return page.run()


def chosen(page: AppTest) -> dict[str, Any]:
    assert not page.exception
    values: dict[str, Any] = json.loads(page.json[0].value)
    return values


def address(page: AppTest) -> dict[str, list[str]]:
    return {name: value if isinstance(value, list) else [value] for name, value in page.query_params.items()}


def test_a_program_starts_with_its_own_defaults_whatever_was_shown_before() -> None:
    page = options_page()
    first = chosen(page)
    assert first["width"] == 256
    page.number_input(key=f"{first['program']}-width").set_value(512).run()
    assert chosen(page)["width"] == 512 and address(page) == {"width": ["512"]}
    page.button_group(key="chosen-framework").set_value("mxnet").run()
    page.radio(key="chosen-mxnet-program").set_value("mx-model-parallel-lstm").run()
    assert (chosen(page)["program"], chosen(page)["width"]) == ("mx-model-parallel-lstm", 64)
    assert address(page) == {"program": ["mx-model-parallel-lstm"]}


def test_the_address_holds_for_the_program_that_it_names_alone() -> None:
    page = options_page(program="mx-copy", size="512")
    assert chosen(page)["size"] == 512
    assert chosen(page.run())["size"] == 512
    page.radio(key="chosen-mxnet-program").set_value("mx-log-norm").run()
    assert chosen(page)["size"] == 100 and "size" not in address(page)
    page.number_input(key="mx-log-norm-size").set_value(7).run()
    page.radio(key="chosen-mxnet-program").set_value("mx-copy").run()
    assert chosen(page)["size"] == 256 and address(page) == {"program": ["mx-copy"]}
    wrong = options_page(program="mx-copy", size="many", seed="-1")
    assert chosen(wrong)["size"] == 256 and address(wrong) == {"program": ["mx-copy"]}
