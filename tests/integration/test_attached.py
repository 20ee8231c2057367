"""Processes that a shell starts, with what `attach` prints: runs without a launcher; ends are noticed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.cli import main
from app.components.stream.going_on import GoingOn
from app.reports.run_report import run_report
from app.web.shared.run_rows import buttons
from runners.errors import UsageError
from runners.plan.plan import INJECT, ROOT
from runners.runs import registry
from runners.runs.run import Run

LONG_S = 90.0
_COPY = "x = mx.nd.ones((4,), ctx=mx.cpu(1)); x.as_in_context(mx.cpu(2)).asnumpy()"
Shell = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def shell(tmp_path: Path, hopscope_home: Path, mx_python: Path) -> Iterator[Shell]:
    """Run lines of a shell script whose `python` is MXNet's."""
    started: list[subprocess.Popen[str]] = []
    attach = f'eval "$({sys.executable} {ROOT / "app"} attach --name "my job")"'

    def start(script: str) -> subprocess.Popen[str]:
        lines = f'python() {{ {mx_python} "$@"; }}\n{attach}\n{textwrap.dedent(script)}'
        process = subprocess.Popen(
            ["/bin/bash", "-c", lines],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": "/nowhere"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def done(process: subprocess.Popen[str]) -> tuple[str, str]:
    out, err = process.communicate(timeout=LONG_S)
    return out, err


def runs() -> list[Run]:
    """Oldest first."""
    return sorted(registry.runs(), key=lambda run: run.status["started"])


def test_what_runs_at_the_same_time_is_one_run(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(
        textwrap.dedent(
            f"""
            import os, sys, time
            import mxnet as mx
            open("ready" + sys.argv[1], "w").close()
            while not (os.path.exists("readya") and os.path.exists("readyb")):
                time.sleep(0.01)
            {_COPY}
            # As one write: where Python does not buffer, print() makes several, and two processes mix them.
            said = [sys.argv[1], str(sys.path.count({str(INJECT)!r})), str("_hopscope" in sys.modules)]
            sys.stdout.write(" ".join(said) + chr(10))
            if sys.argv[1] == "b":
                raise ValueError("broken")
            """
        )
    )
    out, err = done(shell("python -c 'print(1)'\npython job.py a &\npython job.py b\nwait"))
    assert sorted(out.splitlines()) == ["1", "a 0 True", "b 0 True"]
    assert "ValueError: broken" in err
    (run,) = runs()
    assert (run.name, run.framework, run.spec["origin"], run.state) == (
        "my-job",
        "mxnet",
        "attached",
        "failed",
    )
    assert len(run.attached) == 2
    failed = next(member["pid"] for member in run.attached if member["failure"])
    assert run.reason == f"process {failed}: ValueError: broken"
    assert run.exit_code is None
    report = run_report(run.path)
    found = {(hop["op"], hop["src"], hop["dst"], hop["site"], hop["count"]) for hop in report["hops"]}
    assert found == {
        ("_copyto", "cpu:1", "cpu:2", "job.py:7", 2),
        ("Python", "cpu:2", "cpu:0", "job.py:7", 2),
    }
    assert report["status"] == "failed"
    assert (run.path / "tables").is_dir()


def test_the_next_one_is_another_run_and_a_kill_is_noticed(shell: Shell) -> None:
    lines = """
        python -c 'import mxnet as mx; import os; os.kill(os.getpid(), 9)'
        python -c 'import mxnet as mx, sys; sys.exit(3)'
        HOPSCOPE_HOME=/proc/nowhere python -c 'import mxnet; print("goes on")'
        """
    out, err = done(shell(lines))
    killed, ended = runs()
    (member,) = killed.attached
    assert (killed.state, killed.reason) == (
        "lost",
        f"process {member['pid']} ended without taking leave: killed, or by os._exit",
    )
    assert (ended.state, ended.reason) == ("finished", "its exit status is known only to what started it")
    assert out == "goes on\n"
    assert "hopscope: this run is not recorded: [Errno 2]" in err
    assert [button["name"] for button in buttons(killed, killed.state)] == ["delete"]
    registry.remove(killed)
    assert [run.id for run in runs()] == [ended.id]


def test_a_run_that_goes_on_is_seen_and_left_to_who_started_it(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    process = shell(f"exec 2>&1\npython -c 'import mxnet as mx, signal; {_COPY}; signal.pause()'")
    deadline = time.monotonic() + LONG_S
    while not (found := registry.runs()) or not found[0].attached or not run_report(found[0].path)["hops"]:
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.05)
    (run,) = runs()
    assert (run.state, run.reason, buttons(run, run.state)) == ("running", None, [])
    (member,) = run.attached
    with pytest.raises(UsageError, match=f"was not started by Hopscope, .*: process {member['pid']}"):
        registry.stop(run)
    with pytest.raises(UsageError, match="was not started by Hopscope"):
        registry.remove(run)
    assert main(["runs", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["state"] == "running"
    (seen,) = GoingOn().look()
    assert [row["pid"] for row in seen["processes"]] == [member["pid"]]
    os.kill(member["pid"], signal.SIGKILL)
    done(process)
    assert run.reload().state == "lost"


def test_what_attach_prints(capsys: pytest.CaptureFixture[str], hopscope_home: Path) -> None:
    assert main(["attach", "--env"]) == 0
    attach, home, path = capsys.readouterr().out.splitlines()
    assert attach.startswith("export HOPSCOPE_ATTACH=+")
    assert home == f"export HOPSCOPE_HOME={hopscope_home}"
    assert path == f'export PYTHONPATH={INJECT}"${{PYTHONPATH:+:$PYTHONPATH}}"'
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", f"{INJECT}:/mine")
        assert main(["attach", "--off"]) == 0
    assert capsys.readouterr().out == "unset HOPSCOPE_ATTACH\nexport PYTHONPATH=/mine\n"
