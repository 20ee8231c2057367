"""The TensorFlow programs of several processes: they train, end together, and are resumed."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from app.store.verdicts import read_verdicts
from runners import catalogue
from runners.plan import launcher
from runners.plan.plan import Plan
from runners.plan.resuming import CHECKPOINTS, last_checkpoint, resumable
from runners.programs.verdicts import FAILS, HOLDS, Verdict
from runners.runs import registry
from runners.runs.processes import is_alive
from runners.runs.run import Run
from runners.supervise.outcome import DESERTED
from tests.integration.leftovers import all_processes, assert_nothing_is_left, its_processes
from tests.integration.programs import LIMIT_S, STEPS, demo, verdicts
from tests.integration.recording import SCRIPTS
from tests.integration.waiting import until

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "runners" / "programs" / "tensorflow"
ENDLESS = 1_000_000
WEIGHTS = 64 * 16 + 16 + 16 * 16 + 16 + 16 * 10 + 10
"""Of the network with a width of 16 on digits of 64 pixels."""
SMALL: dict[str, Any] = {"width": 16, "log_every": 1, "time_limit": 180}

pytestmark = pytest.mark.usefixtures("hopscope_home", "tf_python")


def planned(program: str, steps: int, **options: str | int) -> Plan:
    """A run of one of the programs, not launched yet."""
    named = {option.replace("_", "-"): value for option, value in (SMALL | options).items()}
    plan = launcher.plan_program(program, stand_ins=1, steps=steps, options=named)
    assert plan.problems == []
    return plan


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
    def test_workers_hold_equal_weights_and_more_of_them_exchange_more(self) -> None:
        two = demo("tf-multiworker", 1, batch=60, **SMALL)
        assert not re.search(r"^worker-1 \| step", two.log, re.MULTILINE)
        assert two.report["steps"] == STEPS
        assert {"worker:0/cpu:1", "worker:1/cpu:1"} < set(two.report["devices"])
        assert two.report["device_map"]["worker:1/cpu:1"]["stand_in"] is True

        another: dict[str, Any] = {"loop": "fit", "keras": "2", "communication": "ring"}
        three = demo("tf-multiworker", 1, batch=60, workers=3, **another, **SMALL)
        # Of the same weights and images, in other parts: the mean of the batch, not its sum over the workers.
        assert float(losses(three.run)[1]) == pytest.approx(float(losses(two.run)[1]), abs=0.0002)
        *equal, exchanged = verdicts(two, three)
        assert equal == [
            Verdict(
                HOLDS,
                f"{one.run.id}: of the weights on {n} replicas in {n} workers after 3 steps, all {WEIGHTS:,} "
                "are the same, bit for bit",
            )
            for n, one in ((2, two), (3, three))
        ]
        assert exchanged.verdict == HOLDS
        # Keras fit sums four numbers of its own along with the gradients.
        sizes = 4 * WEIGHTS, 4 * WEIGHTS + 16
        assert exchanged.text.startswith(f"to sum {sizes[0]:,} and {sizes[1]:,} bytes of gradients by ring, ")
        told = f"{2 * sizes[0]:,} bytes between 2 workers, {4 * sizes[1]:,} bytes between 3 workers cross"
        assert told in exchanged.text

    def test_a_worker_that_updates_in_another_way_is_seen(self) -> None:
        plan = planned("tf-multiworker", STEPS)
        (stage,) = plan.stages
        script, wrapper = (
            str(catalogue.program("tf-multiworker").script),
            str(SCRIPTS / "tf_unequal_workers.py"),
        )

        def wrapped(command: list[str]) -> list[str]:
            at = command.index(script)
            return [*command[:at], wrapper, *command[at:]]

        members = tuple(dataclasses.replace(one, command=wrapped(one.command)) for one in stage.members)
        faulty = dataclasses.replace(plan, stages=(dataclasses.replace(stage, members=members),))
        run = registry.wait(launcher.launch(faulty), LIMIT_S)
        assert run.state == "finished", run.log.read_text()
        (verdict,) = read_verdicts(run.path)
        assert verdict.verdict == FAILS
        differing = re.search(rf"after 3 steps, ([\d,]+) of {WEIGHTS:,} differ", verdict.text)
        assert differing
        assert int(differing[1].replace(",", "")) > WEIGHTS / 2


def exact(run: Run) -> dict[int, str]:
    """Each step's loss to the last bit, as the chief noted it last; those of the run gone on from too."""
    rows = [row.split(",") for row in (run.path / CHECKPOINTS / "losses.csv").read_text().splitlines()]
    return {int(step): loss for step, loss, _ in rows}


class TestCheckpoints:
    def test_a_killed_run_is_resumed_with_the_losses_of_one_that_was_not(self) -> None:
        killed = launcher.launch(planned("tf-multiworker-checkpoint", ENDLESS, checkpoint_every=4, seed=3))

        def saved() -> bool:
            assert not killed.reload().ended, killed.log.read_text()
            return (last_checkpoint(killed) or 0) >= 8

        until(saved, LIMIT_S)
        before = all_processes(killed)
        assert resumable(killed) == f"{killed.id} has not ended: stop it, or wait for its end"
        os.kill(killed.reload().members[1]["pid"], signal.SIGKILL)
        killed = registry.wait(killed, LIMIT_S)
        assert (killed.state, killed.reason) == ("failed", "worker-1 was killed by signal 9 (SIGKILL)")
        assert_nothing_is_left(killed, before)
        # The other ended when it was asked to, although TensorFlow would rather have gone on.
        assert [member["signal"] for member in killed.members] == [signal.SIGTERM, signal.SIGKILL]
        assert resumable(killed) is None

        at = last_checkpoint(killed)
        assert at is not None
        steps = at + 6
        resumed = demo("tf-multiworker-checkpoint", resume=killed.id, steps=steps)
        assert resumed.run.spec["resumed_from"] == killed.id
        assert resumed.run.spec["options"] == killed.spec["options"]
        assert f"worker-1 | worker 1 of 2 on cpu:1, resumed at step {at}:" in resumed.log
        assert min(losses(resumed.run)) == at + 1
        names = {file.name for file in (resumed.run.path / CHECKPOINTS).iterdir()}
        assert {"checkpoint", "losses.csv", f"step-{at + 4}.index"} < names
        assert all(name.startswith(("checkpoint", "losses", "step-")) for name in names), "only the chief's"
        assert resumable(resumed.run) == (
            f"{resumed.run.id} has finished all its steps; with more of them, --steps, it can be gone on with"
        )

        whole = demo("tf-multiworker-checkpoint", 1, steps=steps, checkpoint_every=4, seed=3, **SMALL)
        assert "resumed at" not in whole.log
        uninterrupted = exact(whole.run)
        assert list(uninterrupted) == list(range(1, steps + 1))
        assert len(set(uninterrupted.values())) == steps, "each step has another loss, or this proves nothing"
        after = range(at + 1, steps + 1)
        assert {step: exact(resumed.run)[step] for step in after} == {
            step: uninterrupted[step] for step in after
        }

    def test_three_steps_and_the_one_that_was_not_saved_once_more(self) -> None:
        first = demo("tf-multiworker-checkpoint", 1, checkpoint_every=2, **SMALL)
        resumed = demo("tf-multiworker-checkpoint", resume=first.run.id)
        assert list(losses(resumed.run)) == [3]
        assert exact(resumed.run)[3] == exact(first.run)[3]
        weights = f"2 replicas hold {WEIGHTS:,} weights each at the end: all are the same, bit for bit"
        assert verdicts(first, resumed) == [
            Verdict(HOLDS, weights),
            Verdict(HOLDS, "the chief's checkpoints of step 2 are kept, and no other worker's"),
            Verdict(
                HOLDS,
                f"{resumed.run.id}: resumed at step 2, and the loss of step 3, which the run before had "
                "done, is the same, bit for bit",
            ),
        ]


class TestParameterServer:
    def test_it_trains_and_its_servers_end_with_it(self) -> None:
        ran = demo("tf-parameter-server", 2, **SMALL)
        assert "variables: 3 on ps:0/cpu:0, 3 on ps:1/cpu:0" in ran.log
        assert set(losses(ran.run)) >= {1, 3}
        names = [member["name"] for member in ran.run.members]
        assert names == ["ps-0", "ps-1", "worker-0", "worker-1", "chief"]
        assert {"worker:0/cpu:1", "worker:1/cpu:1"} <= set(ran.report["device_map"])
        told = verdicts(ran)
        assert [verdict.verdict for verdict in told] == [HOLDS] * 3, told
        assert (
            f"{8 * WEIGHTS:,} bytes of variables were pulled from the servers by 2 replicas" in told[1].text
        )
        assert f"{4 * WEIGHTS:,} bytes of gradients, summed, pushed" in told[1].text
        self.what_ran_on_the_workers_is_told_of_them(ran.report)

    def what_ran_on_the_workers_is_told_of_them(self, report: dict[str, Any]) -> None:
        """The chief only hands out steps: the replicas' gradients are summed in each worker."""
        workers = {(f"worker:{rank}/cpu:1", f"worker:{rank}/cpu:2") for rank in (0, 1)}
        summed = [row for row in report["collectives"] if row["payload_bytes"] == 4 * WEIGHTS]
        assert {tuple(row["devices"]) for row in summed} <= workers
        assert sum(row["count"] for row in summed) == STEPS
        assert [name for name in report["devices"] if name.startswith("chief:")] == ["chief:0/cpu:0"]
        started = [row["site"] for row in report["syncs"] if row["kind"] == "coordinator's dispatch"]
        assert len(set(started)) == 1, started
        waits = [row for row in report["findings"] if row["site"] in started and row["code"] == "host-sync"]
        assert waits
        for finding in waits:
            assert (finding["severity"], finding["fix"]) == ("info", None), finding
            assert finding["because"].startswith("Threads of the library, started at this line")
        memory = {row["device"]: (row["peak_bytes"], row["basis"]) for row in report["memory"]}
        assert memory["worker:0/cpu:1"] == memory["worker:1/cpu:2"] == (None, "unsupported")
        assert memory["ps:0/cpu:0"][1] == "estimated"
        # It had nothing at first, and then the digits to test with.
        assert memory["chief:0/cpu:0"][0] > 0

    def test_a_server_that_is_killed_ends_it_also_when_its_launcher_is_gone(self) -> None:
        words = ["demo", "tf-parameter-server", "--stand-ins", "1", "--steps", str(ENDLESS)]
        for option in ("ps=1", "workers=1", "width=16", "log-every=1", "time-limit=180"):
            words += ["--set", option]
        started = subprocess.Popen(
            [sys.executable, "-m", "app", *words],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        (run,) = until(registry.runs, LIMIT_S)
        trains(run, 1)
        before = its_processes(run)
        started.kill()
        started.wait()
        trains(run, max(losses(run)) + 5)
        assert all(map(is_alive, before))
        kill(run, "ps-0")
        run = registry.wait(run, LIMIT_S)
        assert (run.state, run.reason) == ("failed", "ps-0 was killed by signal 9 (SIGKILL)")
        assert "hopscope: ps-0 was killed by signal 9 (SIGKILL); the 2 other processes are ended" in (
            run.log.read_text()
        )
        assert_nothing_is_left(run, before)


def kill(run: Run, member: str, number: signal.Signals = signal.SIGKILL) -> None:
    """Signal one process of a run, by default as a machine that is out of memory would."""
    pids = {one["name"]: one["pid"] for one in run.reload().members}
    if run.supervisor is not None:
        pids["supervisor"] = run.supervisor.pid
    os.kill(pids[member], number)


KILLED = "{} was killed by signal 9 (SIGKILL)"


ENDS = [
    ("tf-parameter-server", "stop", "stopped", "stopped on request"),
    ("tf-parameter-server", "chief", "failed", KILLED.format("chief")),
    ("tf-parameter-server", "worker-0", "failed", KILLED.format("worker-0")),
    # It ends with 0, and the chief would wait for another one in its place.
    ("tf-parameter-server", "worker-0 asked", "failed", f"worker-0 exited with status 0{DESERTED}"),
    ("tf-multiworker", "stop", "stopped", "stopped on request"),
    ("tf-multiworker", "worker-0", "failed", KILLED.format("worker-0")),
]


@pytest.mark.parametrize(("program", "how", "state", "reason"), ENDS, ids=["-".join(end[:2]) for end in ENDS])
def test_nothing_is_left_of_it(program: str, how: str, state: str, reason: str) -> None:
    """However it ends: of the processes that it had, and of any that names its folder."""
    one_server = {"ps": 1, "workers": 1} if program == "tf-parameter-server" else {}
    run = launcher.launch(planned(program, ENDLESS, **one_server))
    trains(run, 2)
    before = its_processes(run)
    member, _, asked = how.partition(" ")
    if how == "stop":
        registry.request_stop(run)
    else:
        kill(run, member, signal.SIGTERM if asked else signal.SIGKILL)
    run = registry.wait(run, LIMIT_S)
    assert (run.state, run.reason) == (state, reason)
    assert_nothing_is_left(run, before)


def test_without_its_supervisor_a_cluster_trains_on_until_it_is_stopped() -> None:
    """What watched it is killed: no worker notices, and a stop leaves nothing."""
    run = launcher.launch(planned("tf-parameter-server", ENDLESS, ps=1, workers=1))
    trains(run, 2)
    before = its_processes(run)
    kill(run, "supervisor")
    until(lambda: "3 processes still run" in str(run.reload().reason))
    known = max(losses(run))
    until(lambda: max(losses(run)) > known + 5)
    run = registry.stop(run)
    assert (run.state, run.reason) == (
        "lost",
        "the process that watched it is gone; 3 processes still ran and had to be ended",
    )
    assert_nothing_is_left(run, before)


CONFIG = '{"cluster": {"worker": ["localhost:1", "localhost:2"]}, "task": {"type": "worker", "index": 0}}'


@pytest.mark.parametrize(
    ("command", "message"),
    [
        # Told before TensorFlow is imported.
        ("multiworker --loop fit", "--loop fit needs --keras 2: Keras 3 cannot fit under"),
        ("multiworker_checkpoint --checkpoint-every 0", "'0' is not a whole number of at least 1"),
        ("parameter_server --loop fit", "Keras 3 cannot fit under ParameterServerStrategy"),
        ("parameter_server --jit-compile on", "XLA reads no variable of another process"),
        # Told once the devices are known.
        ("multiworker --stand-ins 1 --communication nccl", "nccl works on GPUs only"),
        ("multiworker_checkpoint --stand-ins 2 --batch 3", "--batch 3 is too small for 4 replicas"),
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
    done = _execute(tf_python, script)
    name = f"tf-{script.replace('_', '-')}"
    assert done.returncode == 2
    told, *lines = done.stderr.splitlines()
    assert told.startswith(f"{name}: this is one process of several")
    assert len(lines) == (3 if script == "parameter_server" else 2)
    # Each is a command of its own: who it is, and the same script.
    starts = [shlex.split(line) for line in lines]
    assert all(start[1:] == ["python3", str(PROGRAMS / script / "train.py")] for start in starts)
    configs = [json.loads(start[0].removeprefix("TF_CONFIG=")) for start in starts]
    tasks = [(config["task"]["type"], config["task"]["index"]) for config in configs]
    cluster = configs[0]["cluster"]
    assert tasks == [(role, rank) for role, addresses in cluster.items() for rank in range(len(addresses))]
    assert all(config["cluster"] == cluster for config in configs)


def _execute(python: Path, command: str) -> subprocess.CompletedProcess[str]:
    script, *arguments = command.split()
    return subprocess.run(
        [python, PROGRAMS / script / "train.py", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
