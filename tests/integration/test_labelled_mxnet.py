"""MXNet scripts made from public issues get the causes that an expert would name, at the very lines.

What is known not to be reached stands here with its reason, and fails the test once it is reached after all.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.labelled.cases import read_cases
from benchmarks.labelled.scoring import Score
from tests.integration.labelled_set import NotReached, faults, scores

pytestmark = pytest.mark.timeout(600)  # the first test waits for all cases to run
CASES = {case.name: case for case in read_cases(["mxnet"])}
NOT_REACHED = {
    "labels_sent_and_taken": NotReached.of(
        "that nothing on the device but the value taken back needs a copy is not recorded",
        "missed: bounce labels_sent_and_taken.py:25",
        "wrong cause: labels_sent_and_taken.py:25",
    ),
}


@pytest.fixture(scope="module")
def scored(mx_python: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Score]:
    return scores(mx_python, list(CASES.values()), tmp_path_factory.mktemp("runs"))


@pytest.mark.parametrize("name", CASES)
def test_every_label_is_found_and_nothing_else_is_warned_of(scored: dict[str, Score], name: str) -> None:
    known = NOT_REACHED.get(name)
    assert faults(scored[name]) == (known.faults if known else frozenset())


def test_what_is_not_reached_is_of_the_set() -> None:
    assert set(NOT_REACHED) <= set(CASES)
