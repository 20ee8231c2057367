"""Dashboards: killed at a random moment, two on one home, and a soak while runs and viewers come and go."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import random
import signal
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from websockets.sync.client import connect

from app.access import Policy
from app.tokens import kept_tokens
from runners.runs import registry
from runners.runs.leftovers import left_running
from runners.runs.processes import PROC, all_stats, identify, starting_environment
from runners.supervise.ports import free_ports
from tests.faults.bench import PROGRAM, Bench, bench, kill, supervisor_of, until, watchers

ROOT = PROGRAM.parents[2]
MARK = "HOPSCOPE_FAULTS_SERVER"
"""In the environment of a server and of all that it starts."""
START_S = 120.0
VIEWERS = 3
PAGES = ("", "runs", "machine", "launch")
WARM = 0.3
"""Part of a soak after which figures have to stay flat."""
KEPT_S, MOST_KEPT, KEPT_HANDLES = 120.0, 128, 3
"""How long and of how many viewers who left Streamlit keeps the session, and an event loop with each."""
TELL_S = 10.0
SLACK = {"memory": 64 << 20, "handles": 12, "threads": 8, "processes": 2}
"""By how much more the last figures may be than the first, of anything that a server uses."""


class Server:
    """A dashboard on a port of its own, and all that it started."""

    def __init__(self, made: Bench, port: int | None = None) -> None:
        self.port = port or free_ports(["server"])["server"]
        self.mark = uuid.uuid4().hex
        self._left: list[float] = []
        """When each viewer came, seconds of the monotonic clock."""
        self.log = made.folder / f"server-{self.port}.log"
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "app", "serve", "--port", str(self.port)],
                cwd=ROOT,
                env={**os.environ, MARK: self.mark},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def cookie(self) -> str:
        """What an operator's browser sends."""
        tokens, _ = kept_tokens()
        operator = next(token for token, role in tokens.items() if role == "operator")
        return f"{Policy(tokens).cookie}={operator}"

    def answers(self, path: str = "/hopscope/health") -> bool:
        """Whether it answers a request of an operator."""
        assert self.process.poll() is None, f"the server ended: {self._last_words()}"
        asked = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", headers={"Cookie": self.cookie})
        with contextlib.suppress(OSError), urllib.request.urlopen(asked, timeout=20) as answer:
            return bool(answer.status == 200)
        return False

    def started(self) -> Server:
        """Return it once it answers."""
        until(self.answers, "the server answers", START_S)
        return self

    def processes(self) -> list[int]:
        """The pids of the server and of what it started, runs not among them."""
        return [
            stat.pid
            for stat in all_stats()
            if not stat.ended and starting_environment(stat.pid, MARK) == self.mark.encode()
        ]

    def stop(self) -> None:
        """SIGTERM; fail where it does not end, or leaves something behind."""
        self.process.terminate()
        status = self.process.wait(60)
        # Once all is closed it ends by the signal that asked for it.
        assert status in (0, -signal.SIGTERM), f"the server ended with status {status}: {self._last_words()}"
        until(lambda: not self.processes(), "nothing of the server is left")

    def kill(self) -> None:
        """kill -9; fail where it leaves something behind."""
        victim = identify(self.process.pid)
        assert victim is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(60)
        until(lambda: not self.processes(), "nothing of the server is left")

    def _last_words(self) -> str:
        return " | ".join(self.log.read_text(errors="replace").splitlines()[-3:])

    @contextlib.contextmanager
    def viewer(self, page: str) -> Iterator[None]:
        """A viewer's page, as a browser opens it."""
        from streamlit.proto.BackMsg_pb2 import BackMsg

        asked = BackMsg()
        asked.rerun_script.page_name = page
        headers = {"Cookie": self.cookie}
        address = f"ws://127.0.0.1:{self.port}/_stcore/stream"
        # Whatever the page sends is read, or its end would wait for that.
        with connect(
            address, additional_headers=headers, max_size=None, max_queue=None, open_timeout=60, proxy=None
        ) as stream:
            self._left.append(time.monotonic())
            stream.send(asked.SerializeToString())
            stream.recv(60)
            yield

    def usage(self) -> dict[str, int]:
        """What it and all that it started use, without what it keeps for viewers who may come back."""
        usage = _usage(set(self.processes()))
        kept = sum(time.monotonic() - at < KEPT_S for at in self._left)
        return usage | {"handles": usage["handles"] - KEPT_HANDLES * min(kept, MOST_KEPT)}


def killed(folder: Path, _number: int, chance: random.Random) -> None:
    """kill -9 of the dashboard while a run goes on: the run does not notice, and a new dashboard answers."""
    with bench(folder) as made, _server(made) as server:
        run = made.launch()
        with server.viewer("runs"):
            time.sleep(chance.uniform(0, 1))
            server.kill()
        made.check_goes_on()
        made.release()
        run = registry.wait(run, 60)
        assert (run.state, run.exit_code) == ("finished", 0), run.judge()
        made.check_ended(run)
        with _server(made, server.port) as again:
            again.stop()


def two(folder: Path, _number: int, chance: random.Random) -> None:
    """Two dashboards on one home: both show every run, and one goes on without the other."""
    with bench(folder) as made, _server(made) as one, _server(made) as other:
        run = made.launch()
        with one.viewer("runs"), other.viewer("runs"):
            assert one.answers("/runs")
            assert other.answers("/runs")
        first, second = chance.sample([one, other], 2)
        first.kill()
        assert second.answers()
        made.release()
        made.check_ended(registry.wait(run, 60))
        second.stop()


@dataclasses.dataclass
class Soak:
    """Runs that start and end and viewers that come and go, for a time."""

    seconds: float
    tell: Callable[[str], Any] = print

    def play(self, folder: Path, _number: int, chance: random.Random) -> None:
        """Fail where what server, supervisor or companion use grows."""
        server_rows: list[dict[str, int]] = []
        watch_rows: list[dict[str, int]] = []
        with bench(folder) as made, _server(made) as server:
            long = made.launch()
            pids = [supervisor_of(long).pid, *(one.pid for one in watchers(long))]
            begun, rounds, told = time.monotonic(), 0, 0.0
            while (spent := time.monotonic() - begun) < self.seconds:
                self._come_and_go(made, server, chance)
                rounds += 1
                if spent > WARM * self.seconds:
                    server_rows.append(server.usage())
                    watch_rows.append(_usage(set(pids)))
                if spent - told > TELL_S:
                    told = spent
                    self.tell(f"{spent:.0f} of {self.seconds:.0f} s, {rounds} rounds, {server.usage()}")
            made.release()
            made.check_record(registry.wait(long, 60))
            _check_flat("the server", server_rows)
            _check_flat("supervisor and companion", watch_rows)
            server.stop()
            assert "Traceback (most recent call last)" not in server.log.read_text(), server.log.read_text()[
                -3000:
            ]

    @staticmethod
    def _come_and_go(made: Bench, server: Server, chance: random.Random) -> None:
        with contextlib.ExitStack() as viewers:
            for _ in range(VIEWERS):
                viewers.enter_context(server.viewer(chance.choice(PAGES)))
            own = Bench(made.folder / uuid.uuid4().hex, made.home)
            own.folder.mkdir()
            run = registry.wait(own.launch_beside(chance.randrange(50, 2000)), 60)
            assert run.state == "finished", run.judge()
        until(lambda: not left_running(run.path) and not watchers(run), "nothing of the run is left")
        registry.remove(run)


def _check_flat(what: str, rows: list[dict[str, int]]) -> None:
    part = max(1, len(rows) // 3)
    for name, slack in SLACK.items():
        first = statistics.median(row[name] for row in rows[:part])
        last = statistics.median(row[name] for row in rows[-part:])
        assert last <= first + slack, f"{what}: {name} went from {first:.0f} to {last:.0f}"


def _usage(pids: set[int]) -> dict[str, int]:
    return {
        "memory": sum(_status(pid, "VmRSS:") << 10 for pid in pids),
        "handles": sum(_handles(pid) for pid in pids),
        "threads": sum(_status(pid, "Threads:") for pid in pids),
        "processes": len(pids),
    }


def _status(pid: int, field: str) -> int:
    with contextlib.suppress(OSError):
        lines = (PROC / str(pid) / "status").read_text().splitlines()
        return next((int(line.split()[1]) for line in lines if line.startswith(field)), 0)
    return 0


def _handles(pid: int) -> int:
    with contextlib.suppress(OSError):
        return len(list((PROC / str(pid) / "fd").iterdir()))
    return 0


@contextlib.contextmanager
def _server(made: Bench, port: int | None = None) -> Iterator[Server]:
    server = Server(made, port)
    try:
        yield server.started()
    finally:
        if server.process.poll() is None:
            victim = identify(server.process.pid)
            if victim is not None:
                kill(victim)
            server.process.wait(60)
