"""Runs of real processes: how they end, how they are stopped, and what is left of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from runners.errors import HopscopeError, UsageError
from runners.plan import launcher
from runners.plan.plan import ROOT, LaunchOptions
from runners.runs import registry
from runners.runs.processes import Identity, command_line, identify, is_alive, read_stat
from runners.runs.run import Run
from runners.supervise.run_sampler import MODULE as SAMPLES_MODULE
from tests.integration.waiting import ended, until

pytestmark = pytest.mark.usefixtures("hopscope_home")


@pytest.fixture
def start(tmp_path: Path) -> Callable[..., Run]:
    """Launch a script given as text."""

    def launch(text: str, *arguments: str, stdin: int | None = None) -> Run:
        script = tmp_path / "script.py"
        script.write_text(textwrap.dedent(text))
        plan = launcher.plan_script(
            [str(script), *arguments], launch=LaunchOptions(python=sys.executable, record=False), cwd=tmp_path
        )
        assert plan.problems == []
        return launcher.launch(plan, stdin)

    return launch


def printed_pids(run: Run, count: int) -> list[Identity]:
    """Wait for `count` lines that hold a pid each, and return those processes."""

    def read() -> list[str]:
        text = run.log.read_text()
        return text.splitlines() if text.endswith("\n") and len(text.splitlines()) >= count else []

    found = [identify(int(line)) for line in until(read)[:count]]
    assert None not in found
    return [identity for identity in found if identity is not None]


def supervisor_of(run: Run) -> Identity:
    supervisor = run.reload().supervisor
    assert supervisor is not None
    return supervisor


def test_a_run_keeps_its_output_and_command_and_versions(start: Callable[..., Run], tmp_path: Path) -> None:
    run = start("import sys; print('out'); print('err', file=sys.stderr); print(sys.argv[1:])", "a b", "--c")
    assert run.state in ("running", "finished")
    run = ended(run)
    assert (run.state, run.exit_code, run.signal, run.reason) == ("finished", 0, None, None)
    assert run.log.read_text().splitlines() == ["out", "err", "['a b', '--c']"]
    assert run.spec["command"] == [sys.executable, str(tmp_path / "script.py"), "a b", "--c"]
    assert run.spec["cwd"] == str(tmp_path)
    assert run.spec["versions"]["python"] == ".".join(map(str, sys.version_info[:3]))
    assert run.spec["versions"]["pytest"] == pytest.__version__
    assert run.spec["env"]["HOPSCOPE_RUN_DIR"] == str(run.path)
    assert run.started_at is not None
    assert run.ended_at is not None
    assert run.started_at <= run.ended_at
    until(lambda: not is_alive(supervisor_of(run)))
    assert sorted(entry.name for entry in run.path.iterdir()) == [
        "launch.mac",
        "out.log",
        "samples.jsonl",
        "spec.json",
        "status.json",
        "trace",
    ]


def test_a_script_that_raises_keeps_its_traceback_and_status(start: Callable[..., Run]) -> None:
    run = ended(start("def f():\n    raise ValueError('no such thing')\nf()"))
    assert (run.state, run.exit_code, run.reason) == ("failed", 1, "exited with status 1")
    assert "ValueError: no such thing" in run.log.read_text()


def test_a_scripts_own_exit_status_is_kept(start: Callable[..., Run]) -> None:
    assert ended(start("import sys; sys.exit(3)")).exit_code == 3


def test_a_signal_that_ends_it_is_named(start: Callable[..., Run]) -> None:
    run = ended(start("import os; os.kill(os.getpid(), 9)"))
    assert (run.state, run.exit_code, run.signal) == ("failed", None, 9)
    assert run.reason == "killed by signal 9 (SIGKILL)"


def test_an_interpreter_that_vanished_is_a_failed_run(start: Callable[..., Run], tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.symlink_to(sys.executable)
    script = tmp_path / "script.py"
    script.touch()
    plan = launcher.plan_script([str(script)], launch=LaunchOptions(python=python, record=False))
    python.unlink()
    run = launcher.launch(plan)
    assert run.state == "failed"
    assert run.reason is not None
    assert "could not be started" in run.reason
    assert str(python) in run.reason


def test_without_an_input_it_reads_an_empty_one(start: Callable[..., Run]) -> None:
    run = ended(start("import sys; print(repr(sys.stdin.read()))"))
    assert run.log.read_text() == "''\n"


def test_it_reads_its_input_and_sees_the_end_of_it(start: Callable[..., Run]) -> None:
    readable, writable = os.pipe()
    run = start("import sys\nfor line in sys.stdin: print('got', line, end='')\nprint('end')", stdin=readable)
    os.close(readable)
    os.write(writable, b"one\n")
    until(lambda: run.log.read_text() == "got one\n")
    os.close(writable)
    assert ended(run).log.read_text() == "got one\nend\n"


def test_nobody_else_holds_its_input_open(start: Callable[..., Run]) -> None:
    readable, writable = os.pipe()
    start("import os, signal\nos.close(0)\nsignal.pause()", stdin=readable)
    os.close(readable)

    def broken() -> bool:
        try:
            os.write(writable, b"x")
        except BrokenPipeError:
            return True
        return False

    until(broken)
    os.close(writable)


def test_a_megabyte_without_a_newline_is_kept(start: Callable[..., Run]) -> None:
    run = ended(start("import sys; sys.stdout.write('x' * 1_000_000)"))
    assert run.log.read_bytes() == b"x" * 1_000_000


def test_stop_asks_first(start: Callable[..., Run]) -> None:
    run = start(
        """
        import signal, sys
        signal.signal(signal.SIGTERM, lambda *_: (print('saved'), sys.exit(0)))
        print('ready')
        while True: signal.pause()
        """
    )
    until(lambda: run.log.read_text() == "ready\n")
    run = registry.stop(run)
    assert (run.state, run.exit_code) == ("stopped", 0)
    assert run.reason == "stopped on request; exited with status 0"
    assert run.log.read_text() == "ready\nsaved\n"


def test_stop_of_an_unprepared_program(start: Callable[..., Run]) -> None:
    run = registry.stop(start("import signal; signal.pause()"))
    assert (run.state, run.signal) == ("stopped", signal.SIGTERM)


def test_a_stubborn_program_is_killed_after_the_grace(start: Callable[..., Run]) -> None:
    run = start(
        """
        import signal, time
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(number, signal.SIG_IGN)
        print('ready')
        while True: time.sleep(1)
        """
    )
    until(lambda: run.log.read_text() == "ready\n")
    before = time.monotonic()
    run = registry.stop(run, grace_s=0.5)
    assert time.monotonic() - before >= 0.5
    assert (run.state, run.signal) == ("stopped", signal.SIGKILL)
    assert run.reason == "stopped on request: it did not end within 0.5 s, so it was killed"


def test_a_stop_without_grace_kills_at_once(start: Callable[..., Run]) -> None:
    run = start(
        """
        import os, signal
        signal.signal(signal.SIGTERM, lambda *_: os.write(1, b"asked\\n"))
        os.write(1, b"ready\\n")
        while True: signal.pause()
        """
    )
    until(lambda: run.log.read_text() == "ready\n")
    run = registry.stop(run, grace_s=0)
    assert (run.state, run.signal, run.reason) == ("stopped", signal.SIGKILL, "killed on request")
    assert run.log.read_text() == "ready\n"


def test_a_second_stop_may_shorten_the_grace(start: Callable[..., Run]) -> None:
    run = start(
        "import signal; signal.signal(15, signal.SIG_IGN); print('ready')\nwhile True: signal.pause()"
    )
    until(lambda: run.log.read_text() == "ready\n")
    registry.request_stop(run, grace_s=600)
    until(lambda: run.reload().reason == "asked to stop")
    run = registry.stop(run, grace_s=0)
    assert (run.state, run.signal) == ("stopped", signal.SIGKILL)


def test_stopping_an_ended_run_changes_nothing(start: Callable[..., Run]) -> None:
    run = ended(start("pass"))
    assert registry.stop(run).status == run.status


FAMILY = """
    import os, signal, sys, time
    def tell(): os.write(1, b'%d\\n' % os.getpid())   # whole lines, several processes write
    tell()
    if os.fork() == 0:
        tell()                       # a child, in the program's group
        if os.fork() == 0:
            os.setsid()                          # a daemon: it left group and session, and ignores TERM
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            if os.fork() == 0:
                tell()
                while True: signal.pause()
            os._exit(0)
        while True: signal.pause()
"""


def test_stop_ends_all_that_the_program_forked(start: Callable[..., Run]) -> None:
    run = start(FAMILY + "    while True: signal.pause()\n")
    family = printed_pids(run, 3)
    run = registry.stop(run, grace_s=0.5)
    assert run.state == "stopped"
    assert not any(map(is_alive, family))


def test_what_an_ended_program_left_behind_is_ended_too(start: Callable[..., Run]) -> None:
    readable, writable = os.pipe()
    run = start(FAMILY + "    sys.stdin.read()\n", stdin=readable)
    os.close(readable)
    family = printed_pids(run, 3)
    os.close(writable)
    run = ended(run)
    assert (run.state, run.exit_code) == ("finished", 0)
    assert run.reason == "2 processes that it left behind had to be ended"
    assert not any(map(is_alive, family))


def test_what_it_left_behind_may_end_by_itself(start: Callable[..., Run]) -> None:
    text = """
        import os
        alive, program = os.pipe()
        if os.fork() == 0:
            os.close(program)
            os.read(alive, 1)            # until the program has ended
            print("done")
        """
    run = ended(start(text))
    assert (run.state, run.reason) == ("finished", None)
    assert run.log.read_text() == "done\n"


def test_no_zombie_is_left_here_nor_there(start: Callable[..., Run]) -> None:
    run = start(
        """
        import os, signal
        for _ in range(20):
            if os.fork() == 0:
                os.fork()
                os._exit(0)
        print(os.getppid())
        signal.pause()
        """
    )
    supervisor = printed_pids(run, 1)[0]
    # The ten orphans are the supervisor's to reap; what the program itself does not wait for are its own.
    until(lambda: _children(supervisor.pid) == {run.reload().status["pid"]: "S"})
    registry.stop(run)
    until(lambda: not is_alive(supervisor))
    until(lambda: "Z" not in _children(os.getpid()).values())


def _children(pid: int) -> dict[int, str]:
    stats = [read_stat(int(entry.name)) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    return {stat.pid: stat.state for stat in stats if stat is not None and stat.parent == pid}


def kill_supervisor(run: Run) -> None:
    supervisor = supervisor_of(run)
    os.kill(supervisor.pid, signal.SIGKILL)
    until(lambda: not is_alive(supervisor))


def test_a_killed_supervisor_leaves_the_program_unharmed_and_its_output_kept(
    start: Callable[..., Run], tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "go")
    run = start(
        """
        import os, sys
        os.write(1, b"before\\n")
        open(sys.argv[1]).read()
        sys.stdout.buffer.write(bytes(range(256)) * 80_000)
        sys.stdout.flush()
        os.write(2, b"after\\n")
        open(sys.argv[2], "w").write("whole")
        """,
        str(tmp_path / "go"),
        str(tmp_path / "end"),
    )
    until(lambda: run.log.read_bytes() == b"before\n")
    kill_supervisor(run)
    (tmp_path / "go").write_text("go")
    whole = b"before\n" + bytes(range(256)) * 80_000 + b"after\n"
    until(lambda: run.log.stat().st_size == len(whole))
    assert run.log.read_bytes() == whole
    until(lambda: (tmp_path / "end").exists() and (tmp_path / "end").read_text() == "whole")
    until(lambda: run.reload().reason == "the process that watched it is gone, so how it ended is not known")
    assert registry.runs()[0].state == "lost"
    registry.remove(run)
    assert registry.runs() == []


def test_without_a_supervisor_and_a_companion_it_still_runs_and_is_found(start: Callable[..., Run]) -> None:
    run = start("import os, signal; print(os.getpid()); signal.pause()")
    program = printed_pids(run, 1)[0]
    companion = until(lambda: started_for(run))
    os.kill(companion, signal.SIGKILL)
    kill_supervisor(run)
    until(lambda: run.reload().reason is not None and f"pid {program.pid}" in str(run.reload().reason))
    registry.stop(run)
    assert not is_alive(program)


def started_for(run: Run) -> int:
    """The pid of the process that samples the run, 0 before there is one."""
    everyone = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    words = (SAMPLES_MODULE, str(run.path))
    return next((pid for pid in everyone if all(word in command_line(pid) for word in words)), 0)


def test_a_lost_run_says_what_still_runs_and_stop_asks_it_first(
    start: Callable[..., Run], tmp_path: Path
) -> None:
    run = start(
        """
        import os, signal, sys
        os.write(1, b"%d\\n" % os.getpid())
        signal.signal(signal.SIGTERM, lambda *_: (open(sys.argv[1], "w").write("saved"), sys.exit()))
        if os.fork() == 0:
            os.setsid()
            # Started without its parent's environment, and still of the run: its parent is.
            os.execve(sys.executable, [sys.executable, "-c", "import os, signal\\n"
                "os.write(1, b'%d\\\\n' % os.getpid())\\nsignal.pause()"], {})
        while True: signal.pause()
        """,
        str(tmp_path / "saved"),
    )
    family = printed_pids(run, 2)
    pids = sorted(process.pid for process in family)
    kill_supervisor(run)
    words = (
        "the process that watched it is gone; 2 processes still run "
        f"(pid {pids[0]}, {pids[1]}); stop ends them"
    )
    until(lambda: run.reload().reason == words)
    assert run.reload().state == "lost"
    with pytest.raises(UsageError, match="still runs; stop it first"):
        registry.remove(run)
    run = registry.stop(run)
    assert (tmp_path / "saved").read_text() == "saved"
    assert run.reason == "the process that watched it is gone; 2 processes still ran and had to be ended"
    assert not any(map(is_alive, family))


def test_stop_ends_what_a_lost_run_left_running(start: Callable[..., Run]) -> None:
    run = start(FAMILY + "    while True: signal.pause()\n")
    family = printed_pids(run, 3)
    kill_supervisor(run)
    until(lambda: run.reload().state == "lost")
    with pytest.raises(UsageError, match="still runs; stop it first"):
        registry.remove(run)
    run = registry.stop(run, grace_s=0.2)
    assert not any(map(is_alive, family))
    assert run.state == "lost"
    assert run.reason is not None
    assert "still ran and had to be ended" in run.reason
    registry.remove(run)


def test_a_running_run_is_not_removed(start: Callable[..., Run]) -> None:
    run = start("import signal; signal.pause()")
    with pytest.raises(UsageError, match=f"stop it first: python3 -m app stop {run.id}"):
        registry.remove(run)
    assert run.reload().state == "running"
    registry.remove(registry.stop(run))
    assert not run.path.exists()


def test_a_copy_of_a_running_runs_folder_cannot_stop_it(start: Callable[..., Run], tmp_path: Path) -> None:
    run = start("import signal; signal.pause()")
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("spec.json", "status.json"):
        (copy / name).write_bytes((run.path / name).read_bytes())
    with pytest.raises(HopscopeError, match="copy"):
        registry.stop(registry.find(copy))
    assert run.reload().state == "running"


def test_the_run_outlives_the_process_that_launched_it(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import signal; signal.pause()")
    code = """
        import os, sys
        from runners.plan import launcher
        from runners.plan.plan import LaunchOptions
        plan = launcher.plan_script([sys.argv[1]], launch=LaunchOptions(python=sys.executable, record=False))
        print(launcher.launch(plan).id, flush=True)
        os.kill(os.getpid(), 9)
        """
    launching = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(script)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert launching.returncode == -signal.SIGKILL
    run_id = launching.stdout.strip()
    run = registry.find(run_id)
    assert run.state == "running"
    supervisor = supervisor_of(run)
    assert os.getsid(supervisor.pid) == supervisor.pid != os.getsid(0)
    assert os.getpgid(run.status["pid"]) == run.status["pid"]
    assert registry.stop(run).state == "stopped"


def test_a_launcher_that_inherits_orphans_reaps_them(tmp_path: Path) -> None:
    code = """
        import ctypes, os, sys, time
        from runners.plan import launcher
        from runners.plan.plan import LaunchOptions
        from runners.runs import registry
        from runners.runs.processes import read_stat
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)      # as a container's process 1: orphans become its own
        def launch():
            how = LaunchOptions(python=sys.executable, record=False)
            plan = launcher.plan_script([sys.argv[1]], launch=how)
            return registry.wait(launcher.launch(plan), 60)
        former = launch().supervisor.pid
        while read_stat(former).state != "Z":
            time.sleep(0.01)
        launch()
        assert read_stat(former) is None
        """
    (tmp_path / "script.py").touch()
    command = [sys.executable, "-c", textwrap.dedent(code), str(tmp_path / "script.py")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=180)
    assert (done.returncode, done.stderr) == (0, "")


def test_inherited_ignored_signals_do_not_reach_the_program(start: Callable[..., Run]) -> None:
    old = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGHUP)}
    try:
        run = start("import signal; print(signal.getsignal(2).__name__, signal.getsignal(1).name)")
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
    assert ended(run).log.read_text() == "default_int_handler SIG_DFL\n"


def test_the_programs_descriptors_are_its_three(start: Callable[..., Run]) -> None:
    run = ended(start("import os; print(sorted(map(int, os.listdir('/proc/self/fd')))[:-1])"))
    assert run.log.read_text() == "[0, 1, 2]\n"
