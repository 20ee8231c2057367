"""What each cause says, over the golden runs, in one file a cause: ``tests/golden/wording/<code>.txt``."""

from __future__ import annotations

import difflib

import pytest

from app.diagnosis.registry import BY_CODE
from tests.golden import wording
from tests.golden.wording import Example

ANEW = "if this is meant, `python -m tests.golden write` makes the golden files anew"


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> list[Example]:
    return wording.examples(tmp_path_factory.mktemp("golden"))


@pytest.mark.parametrize("code", BY_CODE)
def test_a_cause_says_what_its_golden_file_says(code: str, examples: list[Example]) -> None:
    file = wording.FOLDER / f"{code}.txt"
    golden = file.read_text("utf-8") if file.is_file() else ""
    now = wording.wording(code, examples)
    lines = difflib.unified_diff(golden.splitlines(), now.splitlines(), "golden", "now", lineterm="")
    assert golden == now, "\n".join([f"{code}: {ANEW}", *lines])


@pytest.mark.parametrize("code", BY_CODE)
def test_a_cause_has_a_run_with_it_and_a_run_without(code: str, examples: list[Example]) -> None:
    assert any(one.found(code) for one in examples)
    (without,) = [one for one in examples if one.name == wording.NOT_FOUND[code][0]]
    assert without.found(code) == []


def test_each_cause_has_its_file_and_no_other_has() -> None:
    assert {file.stem for file in wording.FOLDER.iterdir()} == set(BY_CODE), ANEW
    assert set(wording.NOT_FOUND) == set(BY_CODE)
