"""`run` on scripts that know nothing of Hopscope: what they print, read and return is as without it."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from runners.plan.plan import ROOT
from runners.runs import registry
from runners.runs.run import Run

LONG_S = 120.0


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    home = tmp_path / "home"
    monkeypatch.setenv("HOPSCOPE_HOME", str(home))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    yield home
    for run in registry.runs():
        if not run.ended:
            registry.stop(run, grace_s=0)


Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start `run [options] -- script.py [arguments]` in the script's folder."""
    started: list[subprocess.Popen[bytes]] = []

    def begin(
        text: str,
        *arguments: str,
        options: tuple[str, ...] = (),
        words: tuple[str, ...] = ("script.py",),
        stdin: int = subprocess.DEVNULL,
        stdout: int = subprocess.PIPE,
    ) -> subprocess.Popen[bytes]:
        (tmp_path / "script.py").write_text(textwrap.dedent(text))
        command = [sys.executable, str(ROOT / "app"), "run", "--python", sys.executable, *options, "--"]
        process = subprocess.Popen(
            [*command, *words, *arguments],
            cwd=tmp_path,
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.PIPE,
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def finish(process: subprocess.Popen[bytes], given: bytes | None = None) -> tuple[int, str, str]:
    out, err = process.communicate(given, timeout=LONG_S)
    return process.returncode, (out or b"").decode(), err.decode()


def only_run() -> Run:
    (run,) = registry.runs()
    return run


def until_log(text: str) -> Run:
    """Wait until the only run's output is there."""
    deadline = time.monotonic() + LONG_S
    while True:
        found = registry.runs()
        if found and text in found[0].log.read_text():
            return found[0]
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_what_a_script_sees_is_what_it_would_see(start: Start, tmp_path: Path) -> None:
    text = """
        import __main__, json, os, sys
        facts = dict(argv=sys.argv, path=sys.path, name=__name__, file=__file__, cwd=os.getcwd(),
                     modules=sorted(m for m in ("app", "probes", "tests", "runners") if m in sys.modules))
        print(json.dumps(facts))
        """
    status, out, _ = finish(start(text, "a b", "--json"))
    plain = subprocess.run(
        [sys.executable, "script.py", "a b", "--json"], cwd=tmp_path, capture_output=True, check=True
    )
    assert status == 0
    assert json.loads(out) == json.loads(plain.stdout)


def test_its_output_streams_to_ours_and_nothing_else_does(start: Start) -> None:
    status, out, err = finish(start("import sys; print('out'); print('err', file=sys.stderr)"))
    run = only_run()
    assert (status, out) == (0, "out\nerr\n")
    assert f"run {run.id}" in err
    assert f"report {run.id}" in err
    assert (run.state, run.spec["origin"], run.spec["kind"]) == ("finished", "cli", "script")


def test_output_comes_while_it_runs(start: Start) -> None:
    process = start("print('first'); input(); print('last')", stdin=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"first\n"
    assert finish(process, b"\n")[:2] == (0, "last\n")


def test_one_that_raises(start: Start) -> None:
    status, out, err = finish(start("def f(): raise KeyError('x')\nf()"))
    assert status == 1
    assert out.startswith("Traceback (most recent call last):\n")
    assert out.rstrip().endswith("KeyError: 'x'")
    assert "sitecustomize" not in out
    assert "failed: exited with status 1" in err


def test_one_with_a_syntax_error(start: Start) -> None:
    status, out, _ = finish(start("print 'two'"))
    assert status == 1
    assert "SyntaxError" in out


def test_one_that_calls_sys_exit(start: Start) -> None:
    assert finish(start("import sys; sys.exit(3)"))[0] == 3
    status, out, _ = finish(start("import sys; sys.exit('for a reason')"))
    assert (status, out) == (1, "for a reason\n")


def test_one_that_a_signal_ends(start: Start) -> None:
    status, _, err = finish(start("import os; os.abort()"))
    assert status == 128 + signal.SIGABRT
    assert "killed by signal 6 (SIGABRT)" in err


def test_one_that_forks(start: Start) -> None:
    text = """
        import os
        pid = os.fork()
        if pid == 0:
            print("child")
            os._exit(5)
        print("parent", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        """
    assert finish(start(text))[:2] == (0, "child\nparent 5\n")


def test_one_that_uses_processes(start: Start) -> None:
    text = """
        import multiprocessing, subprocess, sys
        if __name__ == "__main__":
            with multiprocessing.get_context("spawn").Pool(2) as pool:
                print(pool.map(abs, [-1, -2]))
            print(subprocess.check_output([sys.executable, "-c", "print(6 * 7)"], text=True), end="")
        """
    assert finish(start(text))[:2] == (0, "[1, 2]\n42\n")


def test_one_that_reads_its_input_from_a_pipe(start: Start) -> None:
    text = "import sys\nprint(sys.stdin.readline().strip())\nprint(len(sys.stdin.read()))"
    assert finish(start(text, stdin=subprocess.PIPE), b"first\n" + b"x" * 300_000)[:2] == (
        0,
        "first\n300000\n",
    )


def test_one_that_reads_its_input_from_a_file(start: Start, tmp_path: Path) -> None:
    (tmp_path / "data.txt").write_text("one\ntwo\n")
    with (tmp_path / "data.txt").open("rb") as file:
        process = start("import sys; print(input()); print(sys.stdin.seekable())", stdin=file.fileno())
        assert finish(process)[:2] == (0, "one\nTrue\n")


class Terminal:
    """`run -- script.py` in a terminal of its own, whose keys we press."""

    def __init__(self, folder: Path, text: str) -> None:
        (folder / "script.py").write_text(textwrap.dedent(text))
        self.shown = b""
        self.pid, self.descriptor = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            command = [sys.executable, str(ROOT / "app"), "run", "--python", sys.executable]
            os.execv(sys.executable, [*command, "--", "script.py"])

    def see(self, text: bytes) -> None:
        """Wait until the text is on the screen."""
        deadline = time.monotonic() + LONG_S
        while text not in self.shown:
            left = deadline - time.monotonic()
            assert left > 0, self.shown
            if select.select([self.descriptor], [], [], left)[0]:
                self.shown += os.read(self.descriptor, 4096)

    def press(self, keys: bytes) -> None:
        os.write(self.descriptor, keys)

    def status(self) -> int:
        _, wait_status = os.waitpid(self.pid, 0)
        os.close(self.descriptor)
        return os.waitstatus_to_exitcode(wait_status)


def test_one_that_reads_its_input_from_a_terminal(tmp_path: Path) -> None:
    terminal = Terminal(
        tmp_path, "print('name?'); print('hello', input())\ntry: input()\nexcept EOFError: print('bye')"
    )
    terminal.see(b"name?")
    terminal.press(b"Ada\n")
    terminal.see(b"hello Ada")
    terminal.press(b"\x04")
    terminal.see(b"bye")
    terminal.see(b"finished")
    assert terminal.status() == 0


def test_ctrl_c_in_a_terminal(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, "import signal; print('ready'); signal.pause()")
    terminal.see(b"ready")
    terminal.press(b"\x03")
    terminal.see(b"stopped on request")
    assert terminal.status() == 128 + signal.SIGTERM


def test_one_that_prints_a_megabyte_without_a_newline(start: Start) -> None:
    status, out, _ = finish(start("import sys; sys.stdout.write('x' * 1_000_000)"))
    assert status == 0
    assert out == "x" * 1_000_000


def test_one_that_prints_what_is_no_text(start: Start) -> None:
    process = start("import sys; sys.stdout.buffer.write(bytes(range(256)))")
    out, _ = process.communicate(timeout=LONG_S)
    assert out == bytes(range(256))


def test_a_module(start: Start, tmp_path: Path) -> None:
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").touch()
    (tmp_path / "pack" / "go.py").write_text("import sys; print(__name__, __package__, sys.argv[1:])")
    status, out, _ = finish(start("", "--flag", words=("-m", "pack.go")))
    assert (status, out) == (0, "__main__ pack ['--flag']\n")


def test_ctrl_c_stops_the_run(start: Start) -> None:
    process = start("import signal; print('ready'); signal.pause()")
    run = until_log("ready")
    process.send_signal(signal.SIGINT)
    status, _, err = finish(process)
    assert status == 128 + signal.SIGTERM
    assert f"stopping {run.id}" in err
    assert run.reload().state == "stopped"


def test_a_second_ctrl_c_kills_it(start: Start) -> None:
    text = """
        import signal
        signal.signal(signal.SIGTERM, lambda *_: print("not yet"))
        print("ready")
        while True: signal.pause()
        """
    process = start(text)
    until_log("ready")
    process.send_signal(signal.SIGINT)
    until_log("not yet")
    process.send_signal(signal.SIGINT)
    assert finish(process)[0] == 128 + signal.SIGKILL
    assert only_run().state == "stopped"


def test_the_run_goes_on_when_its_command_line_is_killed(start: Start) -> None:
    process = start("import signal; print('ready'); signal.pause()")
    run = until_log("ready")
    process.kill()
    process.communicate()
    assert run.reload().state == "running"
    assert registry.stop(run).state == "stopped"


def test_a_reader_that_leaves_does_not_end_the_run(start: Start) -> None:
    process = start("import sys\nfor n in range(50_000): print(n)\nsys.exit(4)")
    assert process.stdout is not None
    assert process.stdout.readline() == b"0\n"
    process.stdout.close()
    process.stdout = None
    assert finish(process)[0] == 4
    assert only_run().log.read_text().endswith("49999\n")


@pytest.mark.parametrize("where", [">/dev/full", ">&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_an_output_that_cannot_be_written_does_not_end_the_run(tmp_path: Path, where: str) -> None:
    (tmp_path / "script.py").write_text("import sys\nfor n in range(50_000): print(n)\nsys.exit(4)")
    words = [sys.executable, str(ROOT / "app"), "run", "--python", sys.executable, "--", "script.py"]
    command = f"{shlex.join(words)} {where}"
    done = subprocess.run(
        ["/bin/sh", "-c", command], cwd=tmp_path, capture_output=True, check=False, timeout=LONG_S
    )
    assert (done.returncode, b"Traceback" in done.stderr) == (4, False)
    assert only_run().log.read_text().endswith("49999\n")


def test_with_json_the_last_line_is_the_report_and_the_rest_is_elsewhere(start: Start) -> None:
    status, out, err = finish(start("print('hello'); raise SystemExit(3)", options=("--json",)))
    assert status == 3
    assert "hello" in err
    report = json.loads(out.splitlines()[-1])
    run = only_run()
    assert (report["run"], report["status"], report["exit_code"]) == (run.id, "failed", 3)
    assert out.count("\n") == 1


def test_a_device_variable_is_changed_only_when_asked(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "import os; print({k: v for k, v in os.environ.items() if 'CUDA' in k})"
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1,0")
    assert finish(start(text))[1] == "{'CUDA_VISIBLE_DEVICES': '1,0'}\n"
    assert finish(start(text, options=("--devices", "cpu:0")))[1] == "{'CUDA_VISIBLE_DEVICES': '-1'}\n"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("nosuch.py",), "the script nosuch.py does not exist"),
        (("scirpt.py",), "the script scirpt.py does not exist; did you mean script.py?"),
    ],
)
def test_a_script_that_does_not_exist(start: Start, words: tuple[str, ...], line: str) -> None:
    status, out, err = finish(start("", words=words))
    assert (status, out, err) == (2, "", f"hopscope: {line}\n")
    assert registry.runs() == []


def test_unrecorded_it_is_plain(start: Start) -> None:
    text = "import os, sys; print(os.environ.get('PYTHONPATH'), '_hopscope' in sys.modules)"
    assert finish(start(text, options=("--no-record",)))[1] == "None False\n"
    status, out, _ = finish(start(text))
    assert status == 0
    assert re.fullmatch(r"\S+probes/inject (True|False)\n", out)
