"""What the Launch page says of environments and plans."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.screen.launch_words import changed_options, environment_words, plan_text
from runners.catalogue import PROGRAMS
from runners.environments import Environment
from runners.launcher import plan_program


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


def test_each_state_says_what_it_is_and_why() -> None:
    versions = {"python": "3.11.7", "tensorflow": "2.21.0", "keras": "3.15.1", "wheel": "1"}
    ready = environment_words(environment("ready", build="cpu", reason="used as it is"), versions)
    assert ready.title == "TensorFlow 2.21.0 is ready"
    assert ready.detail == "CPU build · Python 3.11.7 · keras 3.15.1; used as it is"
    installing = environment_words(environment("installing", step="pip gets keras"), {})
    assert (installing.tone, installing.detail) == ("busy", "pip gets keras")
    failed = environment_words(environment("failed", reason="the disk is full"), {})
    assert (failed.tone, failed.detail) == ("alert", "the disk is full")
    assert environment_words(environment("missing"), {}).title == "TensorFlow is not installed yet"


def test_only_what_differs_from_the_defaults_is_given() -> None:
    program = PROGRAMS["tf-model-parallel"]
    values = {option.name: option.default for option in program.options}
    assert changed_options(program, values) == {}
    assert changed_options(program, values | {"layers": 8, "split": ""}) == {"layers": 8}


def test_the_plan_is_shown_as_a_shell_takes_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "with space"))
    lines = plan_text(plan_program("tf-model-parallel", stand_ins=3, steps=7)).splitlines()
    assert f"export HOPSCOPE_RUN_DIR='{tmp_path}/with space/runs/<run>'" in lines
    assert lines[-1].endswith("model_parallel.py --stand-ins 3 --steps 7")
