"""What one run says of its program's claim: judged from its report where one run is enough."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from app.cli import attend
from app.lessons.of_run import NONE, RunClaim, claim_of
from runners import judging
from runners.programs.evidence import Shown
from runners.programs.verdicts import Verdict
from runners.runs.run import Run, read_run
from tests.unit.lessons.lesson_runs import spec_of, write_run

ALONE, SEVERAL = "tf-central-storage", "tf-multiworker"
SAID = Verdict("holds", "the program's own")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    return tmp_path


def made(
    program: str, variant: str, state: str = "finished", recorded: bool = True, kind: str = "program"
) -> Run:
    """A run as `demo` makes it, not marked as a lesson's."""
    spec = spec_of(program, variant) | {"kind": kind}
    del spec["lesson"]
    folder = write_run(f"r-{program}", spec, state, log=f"verdict holds: {SAID.text}\n")
    if recorded:
        (folder / "trace" / "1-1.jsonl").touch()
    return read_run(folder)


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[Shown]:
    """The check is another one, which notes what it is given."""
    given: list[Shown] = []

    def check(shown: Mapping[str, Shown]) -> list[Verdict]:
        given.extend(shown.values())
        return [Verdict("does not hold", "by its report")]

    monkeypatch.setattr(judging, "check_of", lambda program: check)
    return given


def test_a_program_of_one_run_is_judged_by_it(judged: list[Shown]) -> None:
    run = made(ALONE, "default")
    assert claim_of(run) == RunClaim((Verdict("does not hold", "by its report"),))
    [shown] = judged
    assert (shown.stand_ins, shown.devices) == (2, ("cpu:1", "cpu:2"))
    # The page asks again and again.
    assert claim_of(run) == claim_of(run)
    assert len(judged) == 1


def test_what_one_run_cannot_judge_is_told_with_what_can(judged: list[Shown]) -> None:
    together = "the claim is judged by 2 runs together: two-workers, three-workers"
    assert claim_of(made(SEVERAL, "two-workers")) == RunClaim((SAID,), together)
    off = "the claim is judged by what the recorder sees, and it was off"
    assert claim_of(made(ALONE, "default", recorded=False)) == RunClaim((SAID,), off)
    assert judged == []


def test_a_run_that_did_not_finish_has_its_own_words(judged: list[Shown]) -> None:
    assert claim_of(made(ALONE, "default", "failed")) == RunClaim((SAID,))
    assert judged == []


def test_a_script_of_ones_own_claims_nothing() -> None:
    assert claim_of(made(ALONE, "default", kind="script")) == NONE


def test_a_check_that_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def check(shown: Mapping[str, Shown]) -> list[Verdict]:
        raise KeyError("hole")

    monkeypatch.setattr(judging, "check_of", lambda program: check)
    claim = claim_of(made(ALONE, "default"))
    assert claim.verdicts == (SAID,)
    assert claim.missing
    assert claim.missing.startswith("the claim could not be judged by r-tf-central-storage (KeyError")


def test_demo_tells_it_after_the_run(judged: list[Shown], capsys: pytest.CaptureFixture[str]) -> None:
    attend.tell_claim(made(ALONE, "default"))
    attend.tell_claim(made(SEVERAL, "two-workers"))
    assert capsys.readouterr().err.splitlines() == [
        "hopscope: claim does not hold: by its report",
        "hopscope: claim holds: the program's own",
        "hopscope: the claim is judged by 2 runs together: two-workers, three-workers; "
        "python3 -m app lessons tf-multiworker --run does that",
    ]
