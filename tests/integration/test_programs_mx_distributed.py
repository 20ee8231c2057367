"""mx-dist-sync as scheduler, servers and workers: real MXNet processes on this machine."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.reports.run_report import run_report
from app.store.verdicts import read_verdicts
from runners import catalogue
from runners.plan import launcher
from runners.plan.plan import LaunchOptions
from runners.runs import registry
from runners.runs.leftovers import left_running
from runners.runs.run import Run
from tests.integration.programs import STEPS, demo, verdicts
from tests.integration.waiting import until

LIMIT_S = 150.0
WEIGHTS = 64 * 32 + 32 + 32 * 32 + 32 + 32 * 10 + 10
"""Of the network with a width of 32 on digits of 64 pixels."""

pytestmark = pytest.mark.usefixtures("hopscope_home")


@pytest.fixture
def start(mx_python: Path) -> Callable[..., Run]:
    """Launch mx-dist-sync."""

    def launch(steps: int = 12, **options: str | int) -> Run:
        plan = launcher.plan_program(
            "mx-dist-sync",
            stand_ins=1,
            steps=steps,
            options={"width": 32, "log-every": 1, "time-limit": 80, **options},
            launch=LaunchOptions(python=mx_python),
        )
        assert plan.problems == []
        return launcher.launch(plan)

    return launch


def ended(run: Run) -> Run:
    run = registry.wait(run, LIMIT_S)
    assert run.ended, run.log.read_text()
    return run


def processes(run: Run) -> dict[str, dict[str, Any]]:
    """The header of each process's trace by role and rank, facts included."""
    found = {}
    for path in (run.path / "trace").glob("*.jsonl"):
        header: dict[str, Any] = {}
        for line in path.read_bytes().split(b"\0", 1)[0].splitlines():
            record = json.loads(line)
            if record[0] in ("H", "I"):
                header |= record[-1]
        found[f"{header['role']}:{header['rank']}"] = header
    return found


@pytest.mark.usefixtures("mx_python")
def test_workers_hold_equal_weights_and_each_process_is_recorded() -> None:
    options: dict[str, Any] = {"width": 32, "log_every": 1, "time_limit": 80}
    run, report, log = ran = demo("mx-dist-sync", servers=2, kvstore="dist_device_sync", **options)
    assert re.search(rf"^worker-0  \| step {STEPS}/{STEPS} loss [0-9.]+ ", log, re.MULTILINE)
    assert not re.search(r"^worker-1  \| step", log, re.MULTILINE)
    (verdict,) = verdicts(ran)
    assert verdict.verdict == "holds"
    assert f"all {WEIGHTS:,} are the same, bit for bit" in verdict.text
    told = processes(run)
    assert set(told) == {"scheduler:0", "server:0", "server:1", "worker:0", "worker:1"}
    # The rank in the kvstore is that of the launcher, or shares of the data would be somebody else's.
    assert [told[name]["kvstore_rank"] for name in ("worker:0", "worker:1")] == [0, 1]
    assert (report["status"], report["steps"]) == ("finished", STEPS)
    assert {"worker:0/cpu:1", "worker:0/cpu:2", "worker:1/cpu:1", "worker:1/cpu:2"} < set(report["devices"])
    assert report["device_map"]["worker:1/cpu:2"]["stand_in"] is True
    sent = [
        hop
        for hop in report["hops"]
        if hop["src"].startswith("worker:") and hop["dst"].startswith("server:") and hop["count"] == STEPS
    ]
    for worker in ("worker:0", "worker:1"):
        gradients = [hop["bytes"] for hop in sent if hop["src"].startswith(f"{worker}/")]
        assert sum(gradients) == 4 * WEIGHTS


def test_async_workers_need_not_be_together_and_the_servers_do_not_abort(start: Callable[..., Run]) -> None:
    run = ended(start(kvstore="dist_async", batch=63, workers=3))
    assert (run.state, run.exit_code) == ("finished", 0), run.log.read_text()
    (verdict,) = read_verdicts(run.path)
    assert verdict.verdict == "holds"
    assert "dist_async promises no equal weights" in verdict.text
    assert verdict.text.endswith(f"pulled once all were done, all {WEIGHTS:,} are the same, bit for bit")


def test_a_killed_server_ends_the_run_and_every_trace_is_readable(start: Callable[..., Run]) -> None:
    run = start(steps=1_000_000, servers=2)

    def ten_steps() -> bool:
        assert not run.reload().ended, run.log.read_text()
        return re.search(r"step [0-9]{2,}/", run.log.read_text()) is not None

    until(ten_steps, LIMIT_S)
    members = {member["name"]: member["pid"] for member in run.reload().members}
    assert {address for pid in members.values() for address in listening(pid)} == {"127.0.0.1"}
    os.kill(members["server-1"], signal.SIGKILL)
    run = ended(run)
    assert (run.state, run.signal) == ("failed", signal.SIGKILL)
    assert run.reason == "server-1 was killed by signal 9 (SIGKILL)"
    assert "hopscope: server-1 was killed by signal 9 (SIGKILL); the 4 other processes are ended" in (
        run.log.read_text()
    )
    assert left_running(run.path) == []
    assert set(processes(run)) == {"scheduler:0", "server:0", "server:1", "worker:0", "worker:1"}
    report = run_report(run.path)
    assert report["status"] == "failed"
    assert report["steps"] >= 10
    # Written by the process that was killed, too.
    placed = {row["device"]: row["ops"] for row in report["placement"]}
    assert all(placed[f"{name}/cpu:0"] for name in ("server:0", "server:1", "worker:0", "worker:1"))


def test_alone_it_shows_how_to_start_all_of_them(mx_python: Path) -> None:
    script = catalogue.PROGRAMS["mx-dist-sync"].script
    without = {name: value for name, value in os.environ.items() if not name.startswith("DMLC_")}
    done = subprocess.run(
        [mx_python, script, "--stand-ins", "1"],
        env=without,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    told, *lines = done.stderr.splitlines()
    assert told.startswith("mx-dist-sync: this is one worker of several processes, and DMLC_ROLE")
    # Each line sets who is who as the launcher does, and what to run.
    starts = [shlex.split(line) for line in lines]
    roles = [dict(word.split("=", 1) for word in start[:5])["DMLC_ROLE"] for start in starts]
    assert roles == ["scheduler", "server", "worker", "worker"]
    assert [start[5:] for start in starts[:2]] == [["python3", "-c", "import mxnet"]] * 2
    assert [start[5:] for start in starts[2:]] == [["python3", str(script), "--stand-ins", "1"]] * 2


def listening(pid: int) -> set[str]:
    """The IPv4 addresses, and those of IPv6 as they stand in /proc, on which a process listens for TCP."""
    own = set()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        try:
            target = str(entry.readlink())
        except OSError:
            continue
        if target.startswith("socket:["):
            own.add(target[8:-1])
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in own:
                address = fields[1].partition(":")[0]
                plain = ".".join(str(byte) for byte in reversed(bytes.fromhex(address)))
                found.add(plain if table == "tcp" else address)
    return found
