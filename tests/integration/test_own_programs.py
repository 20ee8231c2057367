"""The quick ones of the small programs: with the recorder they end, print and write as without it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.own_programs.cases import Case, read_cases
from tests.own_programs.runs import EQUAL, compare

QUICK = [pytest.param(case, id=case.name) for case in read_cases() if case.quick]
_PYTHONS = {"tensorflow": "tf_python", "mxnet": "mx_python"}


@pytest.mark.parametrize("case", QUICK)
def test_a_program_does_as_without_the_recorder(
    case: Case, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    fixture = _PYTHONS.get(case.framework)
    python: Path = request.getfixturevalue(fixture) if fixture else Path(sys.executable)
    result = compare(case, python, tmp_path)
    assert (result.verdict, result.differences) == (EQUAL, ())
