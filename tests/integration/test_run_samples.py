"""The samples of real runs: a row a second, whatever becomes of the sampler, and nothing left of it."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from runners.plan import launcher
from runners.plan.plan import ROOT, LaunchOptions
from runners.runs import registry
from runners.runs.processes import PROC, command_line, is_alive, read_stat, send
from runners.runs.run import Run
from runners.supervise.members import Member, Stage
from runners.supervise.sample_rows import SAMPLES_NAME
from tests.integration.sampled import companion_of, rows, sampler_of, until_row
from tests.integration.waiting import ended, until

pytestmark = pytest.mark.usefixtures("hopscope_home")

PAUSE = "import signal; signal.pause()"
BUSY = "while True: pass"


@pytest.fixture
def start(tmp_path: Path) -> Callable[..., Run]:
    """Launch a script given as text, or stages."""

    def launch(text: str = "", *stages: Stage) -> Run:
        script = tmp_path / "script.py"
        script.write_text(textwrap.dedent(text))
        plan = launcher.plan_script(
            [str(script)], launch=LaunchOptions(python=sys.executable, record=False), cwd=tmp_path
        )
        assert plan.problems == []
        return launcher.launch(dataclasses.replace(plan, stages=stages) if stages else plan)

    return launch


def test_a_row_a_second_with_the_host_and_the_runs_own_processes(start: Callable[..., Run]) -> None:
    run = start(f"import os\nos.fork()\n{BUSY}")
    row = until_row(run, lambda row: row["run"].get("cpu_percent"))
    assert row["run"]["processes"] == 2
    assert 0 < row["run"]["cpu_percent"] <= 100
    assert row["run"]["memory_bytes"] > 1_000_000
    assert row["host"]["cpu_cores"] == os.cpu_count()
    assert row["unsampled"] is None
    assert row["every"] == 1.0

    def sampled() -> list[float]:
        return [row["mono"] for row in rows(run) if row["unsampled"] is None]

    until(lambda: len(sampled()) >= 4)
    registry.stop(run, grace_s=0)
    # One more than the seconds between them, and one more where the first came late: not twice as many.
    assert len(sampled()) < sampled()[-1] - sampled()[0] + 2


def test_with_the_run_ends_its_sampler(start: Callable[..., Run]) -> None:
    run = start(PAUSE)
    companion = companion_of(run)
    sampler = sampler_of(companion)
    until(lambda: rows(run))
    run = registry.stop(run)
    assert (run.state, run.signal) == ("stopped", signal.SIGTERM)
    until(lambda: not is_alive(companion) and not is_alive(sampler))


def test_a_run_that_ends_at_once_leaves_no_sampler(start: Callable[..., Run], tmp_path: Path) -> None:
    ended_runs = [ended(start("pass")) for _ in range(5)]
    assert [(run.state, run.exit_code) for run in ended_runs] == [("finished", 0)] * 5
    until(lambda: not left_of(tmp_path))
    for run in ended_runs:
        registry.remove(run)
    assert list(registry.runs_folder().iterdir()) == []


def left_of(home: Path) -> list[list[str]]:
    """The command lines that name something below a folder."""
    pids = [int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit()]
    return [words for words in map(command_line, pids) if any(str(home) in word for word in words)]


def test_a_program_that_cannot_be_started_leaves_no_sampler(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.symlink_to(sys.executable)
    (tmp_path / "script.py").touch()
    plan = launcher.plan_script(
        [str(tmp_path / "script.py")], launch=LaunchOptions(python=python, record=False)
    )
    python.unlink()
    assert launcher.launch(plan).state == "failed"
    until(lambda: not left_of(tmp_path))


def test_a_sampler_that_was_killed_is_started_again(start: Callable[..., Run]) -> None:
    run = start(PAUSE)
    companion = companion_of(run)
    until(lambda: rows(run))
    sampler = sampler_of(companion)
    send(sampler, signal.SIGKILL)
    until(lambda: not is_alive(sampler))
    before = rows(run)[-1]["mono"]
    assert sampler_of(companion) != sampler
    until_row(run, lambda row: row["mono"] > before and row["unsampled"] is None)
    assert run.reload().state == "running"


def test_a_sampler_that_hangs_is_told_and_replaced(start: Callable[..., Run]) -> None:
    run = start(PAUSE)
    companion = companion_of(run)
    until(lambda: rows(run))
    sampler = sampler_of(companion)
    send(sampler, signal.SIGSTOP)
    silent = until_row(run, lambda row: row["unsampled"])
    assert (silent["gpus"], silent["host"]) == ([], {})
    assert silent["run"]["processes"] == 1
    until(lambda: not is_alive(sampler))
    again = until_row(run, lambda row: row["mono"] > silent["mono"] and row["unsampled"] is None)
    assert again["host"]["memory_used_bytes"] > 0


def test_a_stop_does_not_wait_for_a_sampler_that_hangs(start: Callable[..., Run]) -> None:
    run = start(PAUSE)
    companion = companion_of(run)
    sampler = sampler_of(companion)
    for process in (sampler, companion):
        send(process, signal.SIGSTOP)
    run = registry.stop(run)
    assert (run.state, run.reason) == ("stopped", "stopped on request")
    send(companion, signal.SIGCONT)
    until(lambda: not is_alive(companion) and not is_alive(sampler))


def test_without_its_supervisor_a_run_is_sampled_until_it_is_over(start: Callable[..., Run]) -> None:
    run = start(PAUSE)
    companion = companion_of(run)
    sampler = sampler_of(companion)
    supervisor = run.reload().supervisor
    assert supervisor is not None
    send(supervisor, signal.SIGKILL)
    until(lambda: run.reload().state == "lost")
    known = rows(run)
    until(lambda: len(rows(run)) > len(known))
    assert is_alive(companion)
    assert is_alive(sampler)
    registry.stop(run)
    until(lambda: not is_alive(companion) and not is_alive(sampler))


def test_without_the_process_that_samples_the_run_goes_on(start: Callable[..., Run], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "go")
    run = start(f"open({str(tmp_path / 'go')!r}).read(); raise SystemExit(5)")
    companion = companion_of(run)
    sampler = sampler_of(companion)
    send(companion, signal.SIGKILL)
    until(lambda: not is_alive(companion) and not is_alive(sampler))
    (tmp_path / "go").write_text("go")
    run = ended(run)
    assert (run.state, run.exit_code) == ("failed", 5)
    assert run.status["samples_cut"] == "the process that sampled the run was killed"


def test_it_is_none_of_the_runs_processes(start: Callable[..., Run]) -> None:
    run = start(PAUSE)
    companion = companion_of(run)
    sampler = sampler_of(companion)
    supervisor = run.reload().supervisor
    assert supervisor is not None
    ancestors = []
    pid = sampler.pid
    while pid > 1:
        stat = read_stat(pid)
        assert stat is not None
        ancestors.append(pid := stat.parent)
    assert companion.pid in ancestors
    assert supervisor.pid not in ancestors
    # A stop signals all that the run forked, whatever group it is in.
    send(supervisor, signal.SIGTERM)
    assert ended(run).reason == "stopped on request"


def test_it_holds_neither_input_nor_the_log_open(start: Callable[..., Run]) -> None:
    run = start(PAUSE)
    companion = companion_of(run)
    sampler = sampler_of(companion)
    until(lambda: rows(run))
    its = {str(run.path / SAMPLES_NAME), str(run.path / "supervisor.log"), "/dev/null", "pipe", "socket"}

    def held() -> set[str]:
        found = set()
        for process in (companion, sampler):
            for entry in (PROC / str(process.pid) / "fd").iterdir():
                # What it reads of the machine is open for a moment.
                with contextlib.suppress(FileNotFoundError):
                    found.add(str(entry.readlink()).partition(":")[0])
        return found - its

    until(lambda: not held())


def test_stages_and_members_are_one_runs_samples(start: Callable[..., Run], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "go")
    wait = f"open({str(tmp_path / 'go')!r}).read()"
    one = Stage("one", tuple(Member(name, [sys.executable, "-c", PAUSE], serves=True) for name in "ab"))
    first = Stage("one", (Member("only", [sys.executable, "-c", wait]), *one.members))
    second = Stage("two", (Member("only", [sys.executable, "-c", PAUSE]),))
    run = start("", first, second)
    companion = companion_of(run)
    assert until_row(run, lambda row: row["run"].get("processes") == 3)
    (tmp_path / "go").write_text("go")
    assert until_row(run, lambda row: row["run"].get("processes") == 1)
    assert companion_of(run) == companion
    registry.stop(run, grace_s=0)
    until(lambda: not is_alive(companion))


def test_a_dead_server_leaves_no_gap(tmp_path: Path, hopscope_home: Path) -> None:
    (tmp_path / "script.py").write_text(PAUSE)
    # In the place of the server, which is killed together with all of its group.
    launcher_text = f"""
import os, signal, sys
from runners.plan import launcher
from runners.plan.plan import LaunchOptions
how = LaunchOptions(python=sys.executable, record=False)
plan = launcher.plan_script([{str(tmp_path / "script.py")!r}], launch=how)
launcher.launch(plan)
print("launched", flush=True)
signal.pause()
"""
    with subprocess.Popen(
        [sys.executable, "-c", launcher_text], stdout=subprocess.PIPE, process_group=0, cwd=ROOT
    ) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == b"launched\n"
        os.killpg(server.pid, signal.SIGKILL)
    (run,) = registry.runs()
    before = len(rows(run))
    until(lambda: len(rows(run)) >= before + 3)
    registry.stop(run, grace_s=0)


def test_a_launcher_that_inherits_it_reaps_it(tmp_path: Path) -> None:
    code = """
        import ctypes, os, sys, time
        from runners.plan import launcher
        from runners.plan.plan import LaunchOptions
        from runners.runs import registry
        from runners.runs.processes import PROC, read_stat
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)      # as a container's process 1: orphans become its own
        def launch():
            how = LaunchOptions(python=sys.executable, record=False)
            plan = launcher.plan_script([sys.argv[1]], launch=how)
            registry.wait(launcher.launch(plan), 60)
        def zombies():
            stats = [read_stat(int(entry.name)) for entry in PROC.iterdir() if entry.name.isdigit()]
            return {stat.pid for stat in stats if stat and stat.parent == os.getpid() and stat.ended}
        launch()
        while len(former := zombies()) < 2:          # the run's supervisor, and what samples the run
            time.sleep(0.01)
        launch()
        assert not former & zombies()
        """
    (tmp_path / "script.py").touch()
    command = [sys.executable, "-c", textwrap.dedent(code), str(tmp_path / "script.py")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=180)
    assert (done.returncode, done.stderr) == (0, "")
