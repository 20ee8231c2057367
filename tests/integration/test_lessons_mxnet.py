"""The MXNet lessons about placement on stand-ins: run as the driver runs them, judged by their recordings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.lessons import batch
from app.lessons.batch import Batch
from app.lessons.driver import run_lessons
from app.lessons.judged import Judged, lessons
from runners.programs.verdicts import FAILS, HOLDS, UNTESTABLE

H, F, U = HOLDS, FAILS, UNTESTABLE
EXPECTED: dict[str, tuple[list[str], list[str]]] = {
    "mx-contexts": ([H, H, F, H], ["arrays made on cpu:0 at lines", ", and 0 copies between devices"]),
    "mx-context-scope": ([H, H], ["3 of 3 copies, 48 bytes, are the numbers that nd.array was given"]),
    "mx-copy": (
        [H, H, H],
        ["from cpu:1 to itself by copyto 4, by as_in_context 0, by as_in_ctx 0, and from cpu:1 to cpu:2 by"],
    ),
    "mx-mixed-context": ([U, H, H], ["the recorder saw 0 copies between cpu:1 and cpu:2"]),
    "mx-gluon-params": (
        [H, H, H],
        ["340,008 bytes of parameters go from cpu:0 to cpu:2", "340,008 bytes loaded on cpu:1"],
    ),
    "mx-module": (
        [H, H],
        ["16,640 bytes went from cpu:0 to cpu:2, and fit's metric read 2,560 bytes of outputs, 3 times"],
    ),
    "mx-gluon-data-parallel": (
        [H, H, H, H, H, U, H, H, H],
        [
            "kvstore local the recorder saw gradients summed on cpu:0, for which 680,016 bytes cross",
            "kvstore device the recorder saw gradients summed on cpu:1 and cpu:2, for which 340,008 bytes",
            "without a kvstore the recorder saw 0 sums of gradients, and 0 copies between cpu:1 and cpu:2",
        ],
    ),
    "mx-model-parallel-lstm": (
        [H, F],
        [
            "boundary=identity the recorder saw 8 tensors of 16,384 bytes cross forward",
            "and forward again 7 parts of gradients",
        ],
    ),
}
"""By program: its verdicts, and what stands in those from the recording."""


@pytest.fixture(scope="module")
def ran(mx_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Batch]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOPSCOPE_HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("CUDA_VISIBLE_DEVICES", "-1")
        yield run_lessons(tuple(EXPECTED), again=False, tell=lambda _line: None)


@pytest.fixture
def judged(ran: Batch, request: pytest.FixtureRequest) -> Judged:
    [found] = lessons([request.param])
    return found


def test_all_of_their_runs_finish(ran: Batch) -> None:
    assert ran.state == batch.FINISHED
    assert {item.reason for item in ran.items} == {None}
    assert ran.count(batch.DONE) == len(ran.items)


@pytest.mark.parametrize("judged", EXPECTED, indirect=True)
def test_their_claims_are_judged(judged: Judged) -> None:
    words, parts = EXPECTED[judged.program]
    assert (judged.state, judged.reason) == ("judged", None)
    assert [verdict.verdict for verdict in judged.verdicts] == words
    text = "\n".join(verdict.text for verdict in judged.verdicts)
    assert [part for part in parts if part not in text] == []
