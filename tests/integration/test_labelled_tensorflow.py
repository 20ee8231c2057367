"""TensorFlow scripts made from public issues get the causes that an expert would name, at the very lines.

What is known not to be reached stands here with its reason, and fails the test once it is reached after all.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.labelled.cases import read_cases
from benchmarks.labelled.scoring import Score
from tests.integration.labelled_set import NotReached, faults, scores

pytestmark = pytest.mark.timeout(600)  # the first test waits for all cases

CASES = {case.name: case for case in read_cases(["tensorflow"])}
NOT_REACHED: dict[str, NotReached] = {}


@pytest.fixture(scope="module")
def scored(tf_python: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Score]:
    return scores(tf_python, list(CASES.values()), tmp_path_factory.mktemp("runs"))


@pytest.mark.parametrize("name", CASES)
def test_every_label_is_found_and_nothing_else_is_warned_of(scored: dict[str, Score], name: str) -> None:
    known = NOT_REACHED.get(name)
    assert faults(scored[name]) == (known.faults if known else frozenset())


def test_what_is_not_reached_is_of_the_set() -> None:
    assert set(NOT_REACHED) <= set(CASES)
