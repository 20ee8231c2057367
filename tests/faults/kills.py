"""kill -9 of each process that a run or the dashboard consists of, at a random moment."""

from __future__ import annotations

import os
import random
import signal
import time

from runners.runs import leases, registry
from runners.runs.run import Run
from tests.faults.bench import CARD, Bench, companion_of, kill, sampler_of, supervisor_of, until

LONGEST_S = 0.4
MEMBERS = ("server-0", "worker-0", "worker-1")


def program(bench: Bench, chance: random.Random) -> None:
    """The program: the run says so, and what the program forked is ended."""
    run = _started(bench, chance, children=chance.random() < 0.2)
    os.kill(run.reload().status["pid"], signal.SIGKILL)
    run = registry.wait(run, 60)
    assert (run.state, run.signal) == ("failed", signal.SIGKILL), run.judge()
    bench.check_ended(run)


def supervisor(bench: Bench, chance: random.Random) -> None:
    """The supervisor: the program goes on, is named and keeps its card, until it ends or is stopped."""
    children = chance.random() < 0.3
    run = _started(bench, chance, children=children)
    kill(supervisor_of(run))
    _check_lost_and_running(bench, run)
    if children or chance.random() < 0.5:
        run = registry.stop(run)
        assert "had to be ended" in str(run.reason), run.reason
    else:
        bench.release()
    _wait_unwatched(run)
    assert run.reload().state == "lost"
    bench.check_ended(run)


def companion(bench: Bench, chance: random.Random) -> None:
    """The process that samples the run: the run does not notice, and says that its samples end early."""
    run = bench.launch()
    sampling = companion_of(run)
    until(lambda: (run.path / "samples.jsonl").stat().st_size, "the first sample is there")
    time.sleep(chance.uniform(0, LONGEST_S))
    kill(sampling)
    run = _finish(bench, run)
    assert "samples_cut" in run.status, run.status
    bench.check_ended(run)


def sampler(bench: Bench, chance: random.Random) -> None:
    """The sampler: the run does not notice."""
    run = bench.launch()
    victim = sampler_of(run)
    time.sleep(chance.uniform(0, LONGEST_S))
    kill(victim)
    bench.check_ended(_finish(bench, run))


def watchers(bench: Bench, chance: random.Random) -> None:
    """Supervisor and companion: nobody reads the program's output, yet nothing recorded is lost."""
    run = _started(bench, chance)
    first, second = chance.sample([supervisor_of(run), companion_of(run)], 2)
    kill(first)
    kill(second)
    registry.stop(run)
    assert run.reload().state == "lost"
    bench.check_ended(run, whole_log=False)


def member(bench: Bench, chance: random.Random) -> None:
    """One process of a cluster: it is named, the others are ended."""
    run = bench.launch(*MEMBERS)
    time.sleep(chance.uniform(0, LONGEST_S))
    victim = chance.choice([told for told in run.reload().members if told["exit_code"] is None])
    os.kill(victim["pid"], signal.SIGKILL)
    run = registry.wait(run, 60)
    assert (run.state, run.signal) == ("failed", signal.SIGKILL), run.judge()
    assert str(run.reason).startswith(f"{victim['name']} was killed by signal 9"), run.reason
    bench.check_ended(run, *MEMBERS)


def cluster_supervisor(bench: Bench, chance: random.Random) -> None:
    """The supervisor of a cluster: its members go on; lines that were underway may be missing."""
    run = bench.launch(*MEMBERS)
    time.sleep(chance.uniform(0, LONGEST_S))
    kill(supervisor_of(run))
    _check_lost_and_running(bench, run, MEMBERS)
    registry.stop(run)
    _wait_unwatched(run)
    bench.check_ended(run, *MEMBERS, whole_log=False)


def _started(bench: Bench, chance: random.Random, children: bool = False) -> Run:
    run = bench.launch(children=children)
    if chance.random() < 0.8:
        until(lambda: bench.ledger().done, "the program has begun")
    time.sleep(chance.uniform(0, LONGEST_S))
    return run


def _finish(bench: Bench, run: Run) -> Run:
    bench.check_goes_on()
    bench.release()
    run = registry.wait(run, 60)
    assert (run.state, run.exit_code, run.reason) == ("finished", 0, None), run.judge()
    return run


def _check_lost_and_running(bench: Bench, run: Run, members: tuple[str, ...] = ("program",)) -> None:
    until(lambda: run.reload().state == "lost", "the run is lost")
    assert leases.holders(bench.home, CARD.uuid) == [run.id], "the card counts as free"
    for name in members:
        bench.check_goes_on(name)
    until(lambda: "still run" in str(run.reload().reason), "the run says what still runs")


def _wait_unwatched(run: Run) -> None:
    until(lambda: "still run" not in str(run.reload().reason), "nothing of the run runs any more")
