"""The catalogue says of each program what the program says of itself."""

from __future__ import annotations

import argparse
import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from runners import catalogue
from runners.catalogue import PROGRAMS, Option, Program
from runners.errors import UsageError
from runners.plan.resuming import CHECKPOINTS

LAUNCHERS_OWN = {"help", "devices", "stand-ins", "steps"}


@pytest.fixture
def script(program: Program, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The program's script as a module."""
    monkeypatch.syspath_prepend(str(program.script.parent))
    before = set(sys.modules)
    yield importlib.import_module(program.script.stem)
    # They import each other under short names that mean nothing elsewhere.
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None) or ""
        if name.partition(".")[0] == "shared" or Path(file).is_relative_to(catalogue.FOLDER):
            del sys.modules[name]


def declared(script: ModuleType) -> dict[str, argparse.Action]:
    """The options of the program's own command line."""
    actions = {action.option_strings[-1].removeprefix("--"): action for action in script.options()._actions}
    assert set(actions) >= LAUNCHERS_OWN
    return {name: action for name, action in actions.items() if name not in {*LAUNCHERS_OWN, CHECKPOINTS}}


def own_options(program: Program) -> list[Option]:
    """The program's options without those that only say how many processes there are, and how long."""
    launchers = program.cluster.options if program.cluster else frozenset()
    assert launchers <= {option.name for option in program.options}
    return [option for option in program.options if option.name not in launchers]


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
class TestAgainstTheScript:
    def test_options_values_and_defaults_are_the_scripts(self, program: Program, script: ModuleType) -> None:
        told = {option.name: option for option in own_options(program)}
        found = declared(script)
        assert list(told) and set(told) == set(found)
        for name, action in found.items():
            values = tuple(action.choices) if action.choices else None
            assert (name, told[name].values) == (name, values)
            assert (name, told[name].default) == (name, action.default)

    def test_the_script_calls_itself_by_the_programs_name(self, program: Program, script: ModuleType) -> None:
        assert script.options().prog == program.name

    def test_checkpoints_are_kept_where_the_script_has_a_folder_for_them(
        self, program: Program, script: ModuleType
    ) -> None:
        flags = [flag for action in script.options()._actions for flag in action.option_strings]
        assert (f"--{CHECKPOINTS}" in flags) == (program.checkpoints is not None)
        if program.checkpoints:
            assert set(program.checkpoints.same) <= {option.name for option in program.options}

    def test_a_timed_program_can_be_measured_once(self, program: Program) -> None:
        names = [option.name for option in program.options]
        assert ("repeats" in names) == program.timed

    def test_every_default_is_a_value(self, program: Program) -> None:
        for option in program.options:
            if option.default is not None:
                assert option.parse(str(option.default)) == option.default

    def test_what_the_catalogue_takes_the_script_takes(self, program: Program, script: ModuleType) -> None:
        sample = {"count": "7", "natural": "0", "device": "cpu:1", "counts": "1,3"}
        actions = declared(script)
        for option in own_options(program):
            for text in option.values or (sample[option.type],):
                parsed = vars(script.options().parse_args([f"--{option.name}={option.parse(text)}"]))
                assert parsed[actions[option.name].dest] not in (None, "")

    def test_the_default_steps_are_the_scripts(self, program: Program, script: ModuleType) -> None:
        assert script.options().parse_args([]).steps == program.default_steps


def test_every_folder_of_a_program_is_listed_once() -> None:
    there = [".".join(about.parts[-3:-1]) for about in catalogue.FOLDER.glob("*/*/about.py")]
    assert sorted(catalogue.FOLDERS) == sorted(there)
    assert len(PROGRAMS) == len(there)
    for folder, program in zip(catalogue.FOLDERS, PROGRAMS.values(), strict=True):
        framework, _, name = folder.partition(".")
        assert program.framework == framework
        assert program.name.partition("-")[2].replace("-", "_") == name
        assert program.script == catalogue.FOLDER / framework / name / "train.py"


def test_names_are_lower_case_with_dashes() -> None:
    for name, program in PROGRAMS.items():
        assert name == program.name
        for word in (name, *(option.name for option in program.options)):
            assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", word)


def test_an_unknown_program_and_option_name_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean tf-mirrored"):
        catalogue.program("tf-miror")
    with pytest.raises(UsageError, match="did you mean cross-device-ops"):
        PROGRAMS["tf-mirrored"].option("cross-device-op")


@pytest.mark.parametrize(
    ("option", "text", "value"),
    [
        (Option("x", "", 1, type="count"), " 12 ", 12),
        (Option("x", "", 0, type="natural"), "0", 0),
        (Option("x", "", None, type="device"), "GPU:1", "gpu:1"),
        (Option("x", "", None, type="counts"), "1, 3", "1,3"),
        (Option("x", "", None, type="counts", least=2), "3,1,3", "3,1,3"),
        (Option("x", "", "off", ("off", "on")), "ON", "on"),
    ],
)
def test_values_are_read(option: Option, text: str, value: object) -> None:
    assert option.parse(text) == value


@pytest.mark.parametrize(
    ("option", "text"),
    [
        (Option("x", "", 1, type="count"), "0"),
        (Option("x", "", 1, type="count"), "1.5"),
        (Option("x", "", 0, type="natural"), "one"),
        (Option("x", "", 0, type="natural"), "-1"),
        (Option("x", "", 0, type="natural"), "2147483648"),
        (Option("x", "", None, type="device"), "gpu"),
        (Option("x", "", None, type="counts"), "1,,2"),
        (Option("x", "", None, type="counts", least=2), "3,3"),
        (Option("x", "", "off", ("off", "on")), "maybe"),
    ],
)
def test_what_is_no_value_is_told_with_the_options_name(option: Option, text: str) -> None:
    with pytest.raises(UsageError, match=f"x={re.escape(text)} is not possible: it takes"):
        option.parse(text)
