"""The TensorFlow programs of several processes: they train, end together, and are resumed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from app.analysis.claims.checks import judge
from app.analysis.claims.shown import Shown
from app.analysis.report import run_report
from app.store.verdicts import HOLDS, UNTESTABLE, Verdict, read_verdicts
from runners import launcher, registry
from runners.processes import identify, is_alive, started_with
from runners.resuming import CHECKPOINTS, last_checkpoint, resumable
from runners.run import Run
from tests.integration.waiting import until

ROOT = Path(__file__).parents[2]
LIMIT_S = 200.0
ENDLESS = 1_000_000
WEIGHTS = 64 * 16 + 16 + 16 * 16 + 16 + 16 * 10 + 10
"""Of the network with a width of 16 on digits of 64 pixels."""
Launch = Callable[..., Run]

pytestmark = pytest.mark.usefixtures("hopscope_home")


@pytest.fixture
def launch(tf_python: Path) -> Launch:
    """Launch one of the programs."""

    def start(program: str, steps: int, resume: str | None = None, **options: str | int) -> Run:
        wanted = {"width": 16, "log-every": 1, "time-limit": 180} if resume is None else {}
        plan = launcher.plan_program(
            program,
            stand_ins=None if resume else 1,
            steps=steps,
            options={**wanted, **options},
            python=tf_python,
            resume=resume,
        )
        assert plan.problems == []
        return launcher.launch(plan)

    return start


def finished(run: Run) -> Run:
    run = registry.wait(run, LIMIT_S)
    assert (run.state, run.exit_code, run.reason) == ("finished", 0, None), run.log.read_text()
    assert left(run) == []
    return run


def left(run: Run) -> list[int]:
    """The processes of a run, whoever started them, that are still there."""
    return [process.pid for process in started_with("HOPSCOPE_RUN_DIR", str(run.path.resolve()))]


def losses(run: Run) -> dict[int, str]:
    """The losses that were printed, by step."""
    found = re.findall(r"\| step ([0-9]+)/[0-9]+ loss ([0-9.]+) ", run.log.read_text())
    return {int(step): loss for step, loss in found}


def trains(run: Run, steps: int) -> None:
    """Wait until a run has done so many steps."""

    def done() -> bool:
        assert not run.reload().ended, run.log.read_text()
        return max(losses(run), default=0) >= steps

    until(done, LIMIT_S)


class TestMultiworker:
    def test_workers_hold_equal_weights_in_either_loop(self, launch: Launch) -> None:
        own = finished(launch("tf-multiworker", 3))
        (verdict,) = read_verdicts(own.path)
        assert verdict == Verdict(
            HOLDS,
            f"of the weights on 2 replicas in 2 workers after 3 steps, all {WEIGHTS:,} are the same, "
            "bit for bit",
        )
        assert not re.search(r"^worker-1 \| step", own.log.read_text(), re.MULTILINE)
        report = run_report(own.path)
        assert (report["status"], report["steps"]) == ("finished", 3)
        assert {"worker:0/cpu:1", "worker:1/cpu:1"} < set(report["devices"])
        assert report["device_map"]["worker:1/cpu:1"]["stand_in"] is True

        fit = finished(launch("tf-multiworker", 3, loop="fit", keras="2", communication="ring"))
        assert [verdict.verdict for verdict in read_verdicts(fit.path)] == [HOLDS]
        # Of the same weights and images: not added up over the workers.
        assert losses(fit)[1] == losses(own)[1]


class TestCheckpoints:
    def test_a_killed_run_is_resumed_with_the_losses_of_one_that_was_not(self, launch: Launch) -> None:
        killed = launch("tf-multiworker-checkpoint", ENDLESS, **{"checkpoint-every": 4, "seed": 3})

        def saved() -> bool:
            assert not killed.reload().ended, killed.log.read_text()
            return (last_checkpoint(killed) or 0) >= 8

        until(saved, LIMIT_S)
        assert resumable(killed) == f"{killed.id} has not ended: stop it, or wait for its end"
        os.kill(killed.reload().members[1]["pid"], signal.SIGKILL)
        killed = registry.wait(killed, LIMIT_S)
        assert (killed.state, killed.reason) == ("failed", "worker-1 was killed by signal 9 (SIGKILL)")
        assert left(killed) == []
        # The other ended when it was asked to, although TensorFlow would rather have gone on.
        assert [member["signal"] for member in killed.members] == [signal.SIGTERM, signal.SIGKILL]
        assert resumable(killed) is None

        at = last_checkpoint(killed)
        assert at is not None
        steps = at + 6
        resumed = finished(launch("tf-multiworker-checkpoint", steps, resume=killed.id))
        assert resumed.spec["resumed_from"] == killed.id
        assert resumed.spec["options"] == killed.spec["options"]
        assert f"worker-1 | worker 1 of 2 on cpu:1, resumed at step {at}:" in resumed.log.read_text()
        assert min(losses(resumed)) == at + 1
        again, equal, kept = read_verdicts(resumed.path)
        # Whether the killed run had done a step after its last checkpoint is chance.
        assert again.verdict in (HOLDS, UNTESTABLE)
        assert (equal.verdict, kept.verdict) == (HOLDS, HOLDS)
        assert equal.text.endswith("all are the same, bit for bit")
        names = {file.name for file in (resumed.path / CHECKPOINTS).iterdir()}
        assert {"checkpoint", "losses.csv", f"step-{at + 4}.index"} < names
        assert all(name.startswith(("checkpoint", "losses", "step-")) for name in names), "only the chief's"
        assert resumable(resumed) == (
            f"{resumed.id} has finished all its steps; with more of them, --steps, it can be gone on with"
        )

        whole = finished(launch("tf-multiworker-checkpoint", steps, **{"checkpoint-every": 4, "seed": 3}))
        assert losses(whole)[steps] == losses(resumed)[steps]

        # The same once more, for the steps that this one had done and not saved.
        repeated = finished(launch("tf-multiworker-checkpoint", steps, resume=whole.id))
        again = read_verdicts(repeated.path)[0]
        assert again.verdict == HOLDS
        assert again.text.startswith(
            f"resumed at step {at + 4}, and the 2 losses of steps {at + 5} to {steps}"
        )
        assert losses(repeated)[steps] == losses(whole)[steps]


class TestParameterServer:
    def test_it_trains_and_its_servers_end_with_it(self, launch: Launch) -> None:
        run = finished(launch("tf-parameter-server", 3))
        log = run.log.read_text()
        assert "variables: 3 on ps:0/cpu:0, 3 on ps:1/cpu:0" in log
        assert set(losses(run)) >= {1, 3}
        assert [member["name"] for member in run.members] == ["ps-0", "ps-1", "worker-0", "worker-1", "chief"]
        report = run_report(run.path)
        assert report["status"] == "finished"
        assert {"worker:0/cpu:1", "worker:1/cpu:1"} < set(report["device_map"])
        shown = Shown("default", run.spec["options"], ("cpu:1",), 1, run_report(run.path, ops=True))
        told = judge("tf-parameter-server", {"default": shown})
        assert [verdict.verdict for verdict in told] == [HOLDS] * 3, told
        assert f"{4 * WEIGHTS:,} bytes of variables were pulled" in told[1].text
        assert f"{4 * WEIGHTS:,} bytes of gradients pushed" in told[1].text

    def test_a_server_that_is_killed_ends_it_also_when_its_launcher_is_gone(self, tf_python: Path) -> None:
        words = ["demo", "tf-parameter-server", "--stand-ins", "1", "--steps", str(ENDLESS)]
        for option in ("ps=1", "workers=1", "width=16", "log-every=1", "time-limit=180"):
            words += ["--set", option]
        started = subprocess.Popen(
            [sys.executable, "-m", "app", *words, "--python", str(tf_python)],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        (run,) = until(registry.runs, LIMIT_S)
        trains(run, 1)
        started.kill()
        started.wait()
        trains(run, max(losses(run)) + 5)
        members = {member["name"]: identify(member["pid"]) for member in run.reload().members}
        server = members["ps-0"]
        assert server is not None
        os.kill(server.pid, signal.SIGKILL)
        run = registry.wait(run, LIMIT_S)
        assert (run.state, run.reason) == ("failed", "ps-0 was killed by signal 9 (SIGKILL)")
        assert "hopscope: ps-0 was killed by signal 9 (SIGKILL); the 2 other processes are ended" in (
            run.log.read_text()
        )
        assert left(run) == []
        assert not any(is_alive(member) for member in members.values() if member)

    @pytest.mark.parametrize("how", ["stop", "chief"])
    def test_nothing_is_left_of_it(self, launch: Launch, how: str) -> None:
        run = launch("tf-parameter-server", ENDLESS, ps=1, workers=1)
        trains(run, 2)
        if how == "stop":
            run = registry.stop(run)
            assert (run.state, run.reason) == ("stopped", "stopped on request")
        else:
            pids = {member["name"]: member["pid"] for member in run.reload().members}
            os.kill(pids[how], signal.SIGKILL)
            run = registry.wait(run, LIMIT_S)
            assert (run.state, run.reason) == ("failed", f"{how} was killed by signal 9 (SIGKILL)")
        assert left(run) == []


CONFIG = '{"cluster": {"worker": ["localhost:1", "localhost:2"]}, "task": {"type": "worker", "index": 0}}'


@pytest.mark.parametrize(
    ("command", "message"),
    [
        # Told before TensorFlow is imported.
        ("multiworker.py --loop fit", "--loop fit needs --keras 2: Keras 3 cannot fit under"),
        ("multiworker_checkpoint.py --checkpoint-every 0", "'0' is not a whole number of at least 1"),
        ("parameter_server.py --loop fit", "Keras 3 cannot fit under ParameterServerStrategy"),
        ("parameter_server.py --jit-compile on", "XLA reads no variable of another process"),
        # Told once the devices are known.
        ("multiworker.py --stand-ins 1 --communication nccl", "nccl works on GPUs only"),
        ("multiworker_checkpoint.py --stand-ins 2 --batch 3", "--batch 3 is too small for 4 replicas"),
    ],
)
def test_what_cannot_work_is_told_in_one_line(
    tf_python: Path, monkeypatch: pytest.MonkeyPatch, command: str, message: str
) -> None:
    monkeypatch.setenv("TF_CONFIG", CONFIG)
    done = _execute(tf_python, command)
    assert (done.returncode, done.stdout) == (2, "")
    name = "tf-" + Path(command.split(maxsplit=1)[0]).stem.replace("_", "-")
    told = [line for line in done.stderr.splitlines() if line.startswith(f"{name}: ")]
    assert len(told) == 1
    assert message in told[0]


@pytest.mark.parametrize("script", ["multiworker", "multiworker_checkpoint", "parameter_server"])
def test_alone_it_says_what_it_lacks(tf_python: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    monkeypatch.delenv("TF_CONFIG", raising=False)
    done = _execute(tf_python, f"{script}.py")
    name = f"tf-{script.replace('_', '-')}"
    assert done.returncode == 2
    assert done.stderr.startswith(f"{name}: this is one ")
    assert done.stderr.endswith(f"python3 -m app demo {name} starts all of them\n")


def _execute(python: Path, command: str) -> subprocess.CompletedProcess[str]:
    script, *arguments = command.split()
    return subprocess.run(
        [python, ROOT / "runners" / "programs" / "tf" / script, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
