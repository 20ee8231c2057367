"""Runs of several processes and of several stages: how they end together, whatever ends one of them."""

from __future__ import annotations

import dataclasses
import os
import signal
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from app.store.progress import last_progress
from runners.plan import launcher
from runners.plan.plan import LaunchOptions
from runners.runs import registry
from runners.runs.leftovers import left_running
from runners.runs.processes import Identity, identify, is_alive, read_stat
from runners.runs.run import Run
from runners.supervise.members import Member, Stage
from tests.integration.waiting import ended, until

pytestmark = pytest.mark.usefixtures("hopscope_home")

# In one piece, since several processes write to one pipe.
WAIT = "os.write(1, b'%d\\n' % os.getpid())\nwhile True: signal.pause()"
STUBBORN = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + WAIT
# A child in its group, and one that left group and session.
FAMILY = """
if os.fork() == 0:
    if os.fork() == 0:
        os.setsid()
    os.write(1, b'%d\\n' % os.getpid())
    while True: signal.pause()
"""


def member(name: str, text: str, serves: bool = False, **variables: str) -> Member:
    """A process that runs this text."""
    role, _, rank = name.partition("-")
    words = "import os, signal, sys\n" + textwrap.dedent(text)
    command = [sys.executable, "-c", words]
    return Member(name, command, dict(variables), role, int(rank) if rank else None, serves)


def launch(tmp_path: Path, *stages: Stage, limit_s: float | None = None, stdin: int | None = None) -> Run:
    """Launch stages of these members."""
    (tmp_path / "script.py").touch()
    plan = launcher.plan_script(
        [str(tmp_path / "script.py")], launch=LaunchOptions(python=sys.executable, record=False)
    )
    assert plan.problems == []
    return launcher.launch(dataclasses.replace(plan, stages=stages, time_limit_s=limit_s), stdin)


@pytest.fixture
def start(tmp_path: Path) -> Callable[..., Run]:
    """Launch one stage of these members."""

    def one_stage(*members: Member, limit_s: float | None = None, stdin: int | None = None) -> Run:
        return launch(tmp_path, Stage("run", members), limit_s=limit_s, stdin=stdin)

    return one_stage


def printed(run: Run, count: int) -> list[tuple[str, Identity]]:
    """Wait until `count` pids were printed; the name of the member that printed each, and the process."""

    def read() -> list[str]:
        text = run.log.read_text()
        return text.splitlines() if text.endswith("\n") and len(text.splitlines()) >= count else []

    found = []
    for line in until(read)[:count]:
        name, _, pid = line.partition(" | ")
        identity = identify(int(pid))
        assert identity is not None
        found.append((name.strip(), identity))
    return found


def alive(processes: list[tuple[str, Identity]]) -> list[str]:
    return [name for name, process in processes if is_alive(process)]


class TestTogether:
    def test_all_run_at_once_and_the_run_is_finished_when_all_are(
        self, start: Callable[..., Run], tmp_path: Path
    ) -> None:
        os.mkfifo(tmp_path / "fifo")
        # Opening a pipe waits for who opens its other end.
        run = start(
            member("worker-0", f"print(open({str(tmp_path / 'fifo')!r}).read())"),
            member(
                "worker-1",
                f"open({str(tmp_path / 'fifo')!r}, 'w').write('from ' + os.environ['WHO'])",
                WHO="1",
            ),
        )
        run = ended(run)
        assert (run.state, run.exit_code, run.reason) == ("finished", 0, None)
        assert run.log.read_text() == "worker-0 | from 1\n"
        assert [(told["name"], told["exit_code"]) for told in run.status["members"]] == [
            ("worker-0", 0),
            ("worker-1", 0),
        ]
        assert run.status["stage"] == {"name": "run", "number": 1, "of": 1}

    def test_each_knows_its_role_and_is_led_by_itself(self, start: Callable[..., Run]) -> None:
        text = """
            print(os.environ["HOPSCOPE_ROLE"], os.environ.get("HOPSCOPE_RANK"), os.getpgid(0) == os.getpid())
            """
        run = ended(start(member("scheduler", text), member("worker-1", text)))
        assert sorted(run.log.read_text().splitlines()) == [
            "scheduler | scheduler None True",
            "worker-1  | worker 1 True",
        ]

    def test_a_port_is_free_and_one_for_a_name(self, start: Callable[..., Run]) -> None:
        text = """
            import socket
            port = int(os.environ["PORT"].rpartition(":")[2])
            print(sys.argv[1:], port == int(sys.argv[1]))
            socket.create_server(("127.0.0.1", int(sys.argv[2]))).close()
            """
        names = ["<port:scheduler>", "<port:own>", "<port:scheduler>"]
        one = member("worker-0", text, PORT="127.0.0.1:<port:scheduler>")
        run = ended(start(dataclasses.replace(one, command=[*one.command, *names]), member("worker-1", "")))
        (line,) = run.log.read_text().splitlines()
        assert line.endswith("True"), line
        words = run.spec["stages"][0]["members"][0]["command"][-3:]
        assert words[0] == words[2] != words[1]

    def test_none_has_an_input_of_the_launchers(self, start: Callable[..., Run]) -> None:
        readable, writable = os.pipe()
        run = ended(
            start(*(member(f"worker-{i}", "print(repr(sys.stdin.read()))") for i in (0, 1)), stdin=readable)
        )
        os.close(readable)
        os.close(writable)
        assert sorted(run.log.read_text().splitlines()) == ["worker-0 | ''", "worker-1 | ''"]


class TestOutput:
    def test_lines_are_whole_whoever_prints_meanwhile(self, start: Callable[..., Run]) -> None:
        text = """
            import time
            for number in range(300):
                os.write(1, b"%s %d half" % (sys.argv[1].encode(), number))
                time.sleep(0)
                os.write(2, b" line\\n")
            """
        both = (member(f"worker-{i}", text) for i in (0, 1))
        run = ended(start(*(dataclasses.replace(one, command=[*one.command, one.name]) for one in both)))
        lines = run.log.read_text().splitlines()
        for name in ("worker-0", "worker-1"):
            own = [line for line in lines if line.startswith(f"{name} | ")]
            assert own == [f"{name} | {name} {number} half line" for number in range(300)]
        assert len(lines) == 600

    def test_a_megabyte_without_a_newline_is_kept(self, start: Callable[..., Run]) -> None:
        run = ended(start(member("worker-0", "sys.stdout.write('x' * 1_000_000)"), member("worker-1", "")))
        assert run.log.read_bytes() == b"worker-0 | " + b"x" * 1_000_000 + b"\n"

    def test_progress_is_read_behind_the_name_and_a_bar_keeps_it(self, start: Callable[..., Run]) -> None:
        text = "sys.stdout.write('step 1/3 loss 2.5 9 steps/s\\rstep 2/3 loss 1.5 9 steps/s\\n')"
        run = ended(start(member("worker-0", text), member("worker-1", "")))
        assert last_progress(run.path).steps[-1] == 2
        assert run.log.read_bytes().split(b"\r")[1].startswith(b"worker-0 | step 2/3")

    def test_what_it_said_last_stands_before_its_end(self, start: Callable[..., Run], tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "fifo")
        # The one waits for the other's words, since its failure ends the other.
        run = ended(
            start(
                member(
                    "worker-0",
                    f"print('no newline', end='', flush=True); open({str(tmp_path / 'fifo')!r}, 'w')",
                ),
                member("worker-1", f"open({str(tmp_path / 'fifo')!r}).read(); sys.exit('why')"),
            )
        )
        lines = run.log.read_text().splitlines()
        assert "worker-0 | no newline" in lines
        at = next(number for number, line in enumerate(lines) if line.startswith("hopscope: worker-1"))
        assert "worker-1 | why" in lines[:at]


class TestOneFails:
    def test_the_others_are_ended_and_it_is_named(self, start: Callable[..., Run]) -> None:
        run = start(
            member("server-0", WAIT, serves=True), member("worker-0", FAMILY + WAIT), member("worker-1", WAIT)
        )
        processes = printed(run, 5)
        os.kill(dict(processes)["server-0"].pid, signal.SIGKILL)
        run = ended(run)
        assert (run.state, run.exit_code, run.signal) == ("failed", None, signal.SIGKILL)
        assert run.reason == "server-0 was killed by signal 9 (SIGKILL)"
        assert (
            "hopscope: server-0 was killed by signal 9 (SIGKILL); the 2 other processes are ended\n"
            in run.log.read_text()
        )
        assert alive(processes) == []
        assert [told["signal"] for told in run.status["members"]] == [9, 15, 15]

    def test_an_exit_status_is_the_runs(self, start: Callable[..., Run]) -> None:
        run = start(member("worker-0", WAIT), member("worker-1", "sys.stdin.read(); sys.exit(3)"))
        run = ended(run)
        assert (run.state, run.exit_code) == ("failed", 3)
        assert run.reason == "worker-1 exited with status 3"

    def test_what_left_its_group_and_will_not_end_is_killed(self, start: Callable[..., Run]) -> None:
        run = start(member("worker-0", FAMILY + STUBBORN), member("worker-1", WAIT))
        processes = printed(run, 4)
        os.kill(dict(processes)["worker-1"].pid, signal.SIGSEGV)
        run = ended(run)
        assert (run.state, run.signal) == ("failed", signal.SIGSEGV)
        assert alive(processes) == []

    def test_the_others_may_end_by_themselves(self, start: Callable[..., Run]) -> None:
        text = """
            signal.signal(signal.SIGTERM, lambda *_: (print("saved"), sys.exit(0)))
            print(os.getpid())
            while True: signal.pause()
            """
        run = start(member("worker-0", text), member("worker-1", WAIT))
        processes = printed(run, 2)
        os.kill(dict(processes)["worker-1"].pid, signal.SIGKILL)
        run = ended(run)
        assert "worker-0 | saved" in run.log.read_text().splitlines()
        assert (run.state, run.signal) == ("failed", 9)

    def test_one_that_cannot_be_started_leaves_none(self, start: Callable[..., Run]) -> None:
        missing = Member("worker-1", ["/no/such/python"])
        run = start(member("worker-0", WAIT), missing)
        assert run.state == "failed"
        assert run.reason == "could not be started: No such file or directory: /no/such/python"
        assert not left_running(run.path)


def served(folder: Path) -> tuple[Member, str]:
    """A worker, and what a server does to wait until that is gone: its end was seen then."""
    os.mkfifo(folder / "pid")
    worker = f"pid = open({str(folder / 'pid')!r}, 'w')\nprint(os.getpid(), file=pid)"
    gone = f"""
import time
pid = int(open({str(folder / "pid")!r}).read())
while os.path.exists(f"/proc/{{pid}}"):
    time.sleep(0.01)
"""
    return member("worker-0", worker), gone


class TestServing:
    def test_who_serves_may_end_by_itself_when_the_others_have(
        self, start: Callable[..., Run], tmp_path: Path
    ) -> None:
        worker, gone = served(tmp_path)
        run = start(member("server-0", f"{gone}print('bye')", serves=True), worker)
        run = ended(run)
        assert (run.state, run.exit_code, run.reason) == ("finished", 0, None)
        assert run.log.read_text() == "server-0 | bye\n"

    def test_who_serves_on_is_ended(self, start: Callable[..., Run], tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "fifo")
        worker = member("worker-0", f"open({str(tmp_path / 'fifo')!r}).read()")
        run = start(member("server-0", WAIT, serves=True), worker)
        processes = printed(run, 1)
        (tmp_path / "fifo").write_text("it serves")
        run = ended(run)
        assert (run.state, run.exit_code, run.reason) == ("finished", 0, None)
        assert alive(processes) == []

    def test_a_server_that_never_ends_by_itself_is_asked_to(
        self, start: Callable[..., Run], tmp_path: Path
    ) -> None:
        os.mkfifo(tmp_path / "fifo")
        text = f"""
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
            os.write(1, b"%d\\n" % os.getpid())
            open({str(tmp_path / "fifo")!r}, "w").close()
            while True: signal.pause()
            """
        server = dataclasses.replace(member("server-0", text, serves=True), endless=True)
        # It ends once the server can be asked to.
        run = ended(start(server, member("worker-0", f"open({str(tmp_path / 'fifo')!r}).read()")))
        assert (run.state, run.exit_code, run.reason) == ("finished", 0, None)
        assert [told["exit_code"] for told in run.status["members"]] == [0, 0]
        assert run.log.read_text().startswith("server-0 | ")

    def test_a_server_that_somebody_else_ended_ends_the_run(self, start: Callable[..., Run]) -> None:
        """Though it ends well: the others may wait for it forever."""
        text = "signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))\n" + WAIT
        server = dataclasses.replace(member("server-0", text, serves=True), endless=True)
        run = start(server, member("worker-0", WAIT))
        processes = printed(run, 2)
        os.kill(dict(processes)["server-0"].pid, signal.SIGTERM)
        run = ended(run)
        told = "server-0 exited with status 0, while others still needed it"
        assert (run.state, run.exit_code, run.reason) == ("failed", 0, told)
        assert f"hopscope: {told}; the other process is ended\n" in run.log.read_text()
        assert alive(processes) == []

    def test_a_server_that_fails_at_the_very_end_is_told(
        self, start: Callable[..., Run], tmp_path: Path
    ) -> None:
        worker, gone = served(tmp_path)
        run = ended(start(member("server-0", f"{gone}os.abort()", serves=True), worker))
        assert (run.state, run.exit_code) == ("finished", 0)
        assert run.reason is not None
        assert run.reason.startswith("server-0 was killed by signal 6 (SIGABRT)")
        assert run.reason.endswith("after the others had finished")


class TestEnded:
    def test_stop_ends_all_members_and_what_they_forked(self, start: Callable[..., Run]) -> None:
        run = start(member("server-0", WAIT, serves=True), member("worker-0", FAMILY + WAIT))
        processes = printed(run, 4)
        run = registry.stop(run)
        assert (run.state, run.signal) == ("stopped", signal.SIGTERM)
        assert run.reason == "stopped on request"
        assert alive(processes) == []

    def test_a_time_limit_ends_it(self, start: Callable[..., Run]) -> None:
        # However far they have come by then.
        run = ended(start(member("server-0", WAIT, serves=True), member("worker-0", WAIT), limit_s=0.5))
        assert run.state == "failed"
        assert run.reason == "the time limit of 0.5 s ended it"
        assert "hopscope: the time limit of 0.5 s is over, so it is ended\n" in run.log.read_text()
        assert [told["signal"] for told in run.status["members"]] == [signal.SIGTERM, signal.SIGTERM]
        assert not left_running(run.path)

    def test_a_time_limit_holds_for_a_single_command_too(self, start: Callable[..., Run]) -> None:
        # A shell is there at once, where Python takes its time.
        program = Member("program", ["/bin/sh", "-c", "printf half; exec sleep 1000"])
        run = ended(start(program, limit_s=1.0))
        assert run.state == "failed"
        assert run.reason == "the time limit of 1 s ended it"
        assert run.log.read_text() == "half\nhopscope: the time limit of 1 s is over, so it is ended\n"

    def test_members_go_on_without_their_supervisor_and_their_output_is_kept(
        self, start: Callable[..., Run], tmp_path: Path
    ) -> None:
        os.mkfifo(tmp_path / "go")
        text = f"print('begun', flush=True); open({str(tmp_path / 'go')!r}).read(); print('end')"
        run = start(member("server-0", WAIT, serves=True), member("worker-0", text))
        until(lambda: "worker-0 | begun" in run.log.read_text())
        supervisor = run.supervisor
        assert supervisor is not None
        os.kill(supervisor.pid, signal.SIGKILL)
        until(lambda: not is_alive(supervisor))
        (tmp_path / "go").write_text("go")
        until(lambda: "worker-0 | end" in run.log.read_text())
        words = "hopscope: the process that watched it is gone; lines that it had not finished are not here"
        assert words in run.log.read_text().splitlines()
        registry.stop(run)
        assert left_running(run.path) == []

    def test_what_members_of_a_lost_run_forked_is_ended_by_a_stop(self, start: Callable[..., Run]) -> None:
        run = start(member("worker-0", FAMILY + WAIT), member("worker-1", WAIT))
        processes = printed(run, 4)
        supervisor = run.supervisor
        assert supervisor is not None
        os.kill(supervisor.pid, signal.SIGKILL)
        until(lambda: run.reload().state == "lost")
        run = registry.stop(run)
        assert alive(processes) == []

    def test_a_full_pipe_holds_up_no_end(self, start: Callable[..., Run]) -> None:
        flood = "while True: os.write(1, b'x' * 4096)"
        run = start(member("worker-0", flood), member("worker-1", flood))
        until(lambda: run.log.stat().st_size > 1_000_000)
        run = registry.stop(run)
        assert run.state == "stopped"

    def test_no_zombie_and_no_descriptor_is_left(self, start: Callable[..., Run]) -> None:
        run = start(member("worker-0", "pass"), member("worker-1", WAIT))
        printed(run, 1)
        supervisor = run.supervisor
        assert supervisor is not None
        until(lambda: run.reload().status["members"][0]["exit_code"] == 0)
        number = supervisor.pid

        def children() -> list[str]:
            pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
            return [stat.state for pid in pids if (stat := read_stat(pid)) and stat.parent == number]

        # What has just printed may still be on its way to sleep.
        until(lambda: children() == ["S"])
        registry.stop(run)
        until(lambda: not is_alive(supervisor))


class TestStages:
    def test_one_follows_the_other_and_each_is_announced(self, tmp_path: Path) -> None:
        run = launch(
            tmp_path,
            Stage("measure", (member("program", "print(os.environ['HOW'])", HOW="bare"),), "unrecorded"),
            Stage("record", (member("program", "print(os.environ['HOW'])", HOW="seen"),), "once more"),
        )
        run = ended(run)
        assert (run.state, run.exit_code, run.reason) == ("finished", 0, None)
        assert run.log.read_text().splitlines() == [
            "hopscope: stage measure: unrecorded",
            "bare",
            "hopscope: stage record: once more",
            "seen",
        ]
        assert run.status["stage"] == {"name": "record", "number": 2, "of": 2}

    def test_a_failed_stage_is_the_last(self, tmp_path: Path) -> None:
        run = launch(
            tmp_path,
            Stage("measure", (member("program", "print('no newline', end=''); sys.exit(4)"),)),
            Stage("record", (member("program", "print('never')"),)),
        )
        run = ended(run)
        assert (run.state, run.exit_code, run.reason) == ("failed", 4, "measure: exited with status 4")
        assert "never" not in run.log.read_text()

    def test_a_stop_skips_what_would_follow(self, tmp_path: Path) -> None:
        run = launch(
            tmp_path,
            Stage("measure", (member("program", "signal.signal(15, lambda *_: sys.exit(0))\n" + WAIT),)),
            Stage("record", (member("program", "print('never')"),)),
        )
        until(lambda: run.log.read_text().splitlines()[1:])
        assert run.reload().stage == "measure, 1 of 2"
        run = registry.stop(run)
        assert (run.state, run.reason) == ("stopped", "measure: stopped on request; exited with status 0")
        assert "never" not in run.log.read_text()
        assert run.stage is None

    def test_what_a_stage_left_behind_is_gone_before_the_next(self, tmp_path: Path) -> None:
        # The second stage waits for what is written here.
        os.mkfifo(tmp_path / "pid")
        # The first ends when what it leaves has said who it is, and not before.
        left = """
            said, tell = os.pipe()
            if os.fork() == 0:
                print(os.getpid())
                os.write(tell, b"x")
                while True: signal.pause()
            os.read(said, 1)
            """
        run = launch(
            tmp_path,
            Stage("measure", (member("program", left),)),
            Stage(
                "record",
                (
                    member(
                        "program", f"print(os.path.exists('/proc/' + open({str(tmp_path / 'pid')!r}).read()))"
                    ),
                ),
            ),
        )
        (pid,) = until(lambda: run.log.read_text().splitlines()[1:2])
        (tmp_path / "pid").write_text(pid)
        run = ended(run)
        assert run.state == "finished"
        assert run.reason == "1 process that it left behind had to be ended"
        assert run.log.read_text().splitlines()[-1] == "False"

    def test_a_group_in_each_stage_and_one_port_for_both(self, tmp_path: Path) -> None:
        pair = tuple(member(f"worker-{i}", "print(sys.argv[1])") for i in (0, 1))
        pair = tuple(dataclasses.replace(one, command=[*one.command, "<port:a>"]) for one in pair)
        run = ended(launch(tmp_path, Stage("measure", pair), Stage("record", pair)))
        lines = [line for line in run.log.read_text().splitlines() if not line.startswith("hopscope")]
        assert len(lines) == 4
        assert len({line.split(" | ")[1] for line in lines}) == 1
