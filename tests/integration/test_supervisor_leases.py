"""Leases that live and die with their runs."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from runners.errors import UsageError
from runners.machine.gpus import Gpu, Gpus
from runners.plan import launcher, script_plan
from runners.plan.plan import LaunchOptions, Plan
from runners.runs import leases, registry
from runners.runs.run import Run
from tests.conftest import stop_runs
from tests.integration.sampled import companion_of
from tests.integration.waiting import until

CARD = Gpu(0, "GPU-aaaa", "00000000:01:00.0", "Card X", (9, 0))
OTHER = Gpu(1, "GPU-bbbb", "00000000:02:00.0", "Card X", (9, 0))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A machine with two cards, which only their numbers and names are needed of."""
    home = tmp_path / "home"
    monkeypatch.setenv("HOPSCOPE_HOME", str(home))
    monkeypatch.setattr(script_plan, "known_gpus", lambda: Gpus((CARD, OTHER)))
    yield home
    stop_runs()


@pytest.fixture
def plan(tmp_path: Path) -> Callable[..., Plan]:
    script = tmp_path / "wait.py"
    script.write_text("import os, signal; print(os.environ['CUDA_VISIBLE_DEVICES'])\nsignal.pause()")

    def make(*devices: str, share: bool = False) -> Plan:
        return launcher.plan_script(
            [str(script)],
            devices=devices,
            launch=LaunchOptions(python=sys.executable, share=share, record=False),
        )

    return make


def lines(run: Run) -> str:
    until(lambda: run.log.read_text().endswith("\n"))
    return run.log.read_text()


def test_two_runs_do_not_take_one_card_unasked(home: Path, plan: Callable[..., Plan]) -> None:
    first = launcher.launch(plan("gpu:0"))
    assert lines(first) == "GPU-aaaa\n"
    (problem,) = plan("gpu:1", "gpu:0").problems
    assert first.id in problem
    assert "--share" in problem
    assert plan("gpu:1").problems == []
    shared = launcher.launch(plan("gpu:0", share=True))
    assert leases.holders(home, "GPU-aaaa") == sorted([first.id, shared.id])
    registry.stop(first)
    assert shared.id in plan("gpu:0").problems[0]
    registry.stop(shared)
    assert plan("gpu:0").problems == []


def test_a_card_that_was_taken_since_the_plan_is_refused_at_launch(
    home: Path, plan: Callable[..., Plan]
) -> None:
    one, two = plan("gpu:0"), plan("gpu:1", "gpu:0")
    first = launcher.launch(one)
    with pytest.raises(UsageError, match=first.id):
        launcher.launch(two)
    assert [run.id for run in registry.runs()] == [first.id]
    assert leases.holders(home, "GPU-bbbb") == []


@pytest.mark.parametrize("companion_too", [False, True])
def test_a_card_is_held_until_nothing_of_a_lost_run_runs(
    home: Path, plan: Callable[..., Plan], companion_too: bool
) -> None:
    run = launcher.launch(plan("gpu:0"))
    lines(run)
    if companion_too:
        os.kill(companion_of(run).pid, signal.SIGKILL)
    supervisor = run.supervisor
    assert supervisor is not None
    os.kill(supervisor.pid, signal.SIGKILL)
    until(lambda: run.reload().state == "lost")
    assert leases.holders(home, "GPU-aaaa") == [run.id]
    assert run.id in plan("gpu:0").problems[0]
    registry.stop(run)
    until(lambda: not leases.holders(home, "GPU-aaaa"))
    assert plan("gpu:0").problems == []


def test_the_program_itself_holds_no_lease(home: Path, plan: Callable[..., Plan]) -> None:
    run = launcher.launch(plan("gpu:0"))
    lines(run)
    program = Path("/proc") / str(run.reload().status["pid"]) / "fd"
    targets = [entry.readlink() for entry in program.iterdir()]
    assert targets
    assert not [target for target in targets if "leases" in target.parts]
