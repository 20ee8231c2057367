"""What a round of a fault works on: a home of its own, a GPU to lease, a program; and what must hold."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from app.reports.run_report import run_report
from app.store.run import open_run
from runners.machine.gpus import Gpu, Gpus
from runners.plan import launcher, script_plan
from runners.plan.plan import LaunchOptions
from runners.runs import leases, registry
from runners.runs.leftovers import left_running
from runners.runs.processes import PROC, Identity, command_line, descendants, identify, is_alive
from runners.runs.run import Run
from runners.supervise.members import Member, Stage
from runners.supervise.run_sampler import MODULE as COMPANION_MODULE

CARD = Gpu(0, "GPU-faults", "00000000:01:00.0", "Card", (9, 0))
PROGRAM = Path(__file__).with_name("program.py")
LONG_S = 60.0
"""More than a busy machine needs; what comes true is not waited for."""
T = TypeVar("T")


class Skipped(Exception):
    """A fault that cannot be tried here, and why."""


def until(read: Callable[[], T], what: str, timeout_s: float = LONG_S) -> T:
    """Return what `read` gives once that is true; fail with `what` was waited for."""
    deadline = time.monotonic() + timeout_s
    while not (value := read()):
        assert time.monotonic() < deadline, f"{what}: not within {timeout_s:g} s"
        time.sleep(0.01)
    return value


@dataclasses.dataclass(frozen=True)
class Ledger:
    """Up to where one process of the program says that it has recorded and printed."""

    path: Path

    @property
    def done(self) -> int:
        """The number of the last step that was recorded and printed."""
        with contextlib.suppress(FileNotFoundError, ValueError):
            return int(self.path.read_text() or 0)
        return 0


@dataclasses.dataclass
class Bench:
    """The folder of one round. `home` is where its runs go, $HOPSCOPE_HOME for all that it starts."""

    folder: Path
    home: Path

    @property
    def hold(self) -> Path:
        """The program goes on for as long as this file is there."""
        return self.folder / "hold"

    def ledger(self, name: str = "program") -> Ledger:
        """The ledger of one member."""
        return Ledger(self.folder / f"{name}.ledger")

    def launch(self, *members: str, steps: int = 10**9, children: bool = False) -> Run:
        """Launch the program, once or as several members, with the card leased to it."""
        self.hold.touch()
        plan = launcher.plan_script(
            self._arguments("program", steps, children),
            devices=["gpu:0"],
            launch=LaunchOptions(python=sys.executable, record=False),
        )
        assert plan.problems == [], plan.problems
        if members:
            stage = Stage("run", tuple(self._member(name, steps) for name in members))
            plan = dataclasses.replace(plan, stages=(stage,))
        return launcher.launch(plan)

    def launch_beside(self, steps: int) -> Run:
        """Launch the program to share the card with others and to end by itself."""
        self.hold.touch()
        words = self._arguments("program", steps, False)
        plan = launcher.plan_script(
            words, launch=LaunchOptions(python=sys.executable, record=False, share=True)
        )
        return launcher.launch(plan)

    def release(self) -> None:
        """Let the program end by itself."""
        self.hold.unlink(missing_ok=True)

    def check_goes_on(self, name: str = "program") -> None:
        """Fail unless a process of the program records and prints more than it has."""
        done = self.ledger(name).done
        until(lambda: self.ledger(name).done > done, f"{name} goes on")

    def check_ended(self, run: Run, *members: str, whole_log: bool = True) -> None:
        """Fail unless an ended run left nothing behind and nothing that was recorded or printed is lost."""
        until(lambda: not left_running(run.path), f"no process of {run.id} is left")
        until(lambda: not watchers(run), f"nothing that watches {run.id} is left")
        until(lambda: not leases.holders(self.home, CARD.uuid), "the card is free again")
        assert run.id in [known.id for known in registry.runs()]
        self.check_record(run, *members)
        if whole_log:
            for name in members or ("program",):
                self._check_log(run, name, bool(members))

    def check_record(self, run: Run, *members: str) -> None:
        """Fail unless the report opens and holds all that the ledgers say."""
        report = run_report(run.path)
        assert report["status"] == run.reload().state, report["status"]
        with contextlib.closing(open_run(run.path)) as store:
            names = {process.index: process.header.get("member") for process in store.processes()}
            counts = {names[key.id >> 32]: key.count or 0 for key in store.keys("op")}
        for name in members or ("program",):
            done = self.ledger(name).done
            assert counts.get(name, 0) >= done, f"{name} recorded {done} steps, the report has {counts}"

    def _check_log(self, run: Run, name: str, several: bool) -> None:
        lines = run.log.read_text().splitlines()
        prefix = f"{name} | " if several else ""
        own = [line.removeprefix(prefix) for line in lines if line.startswith(f"{prefix}step ")]
        assert own == [f"step {number}" for number in range(1, len(own) + 1)], f"{name}: lines lost or mixed"
        done = self.ledger(name).done
        assert len(own) >= done, f"{name} printed {done} lines, the log has {len(own)}"

    def _arguments(self, name: str, steps: int, children: bool) -> list[str]:
        words = [str(PROGRAM), name, str(self.ledger(name).path), str(self.hold), str(steps)]
        return [*words, "children"] if children else words

    def _member(self, name: str, steps: int) -> Member:
        return Member(name, [sys.executable, *self._arguments(name, steps, False)])


@contextlib.contextmanager
def bench(folder: Path, home: Path | None = None) -> Iterator[Bench]:
    """A bench in a folder; whatever is left of its runs at the end is ended."""
    made = Bench(folder, home or folder / "home")
    folder.mkdir(parents=True, exist_ok=True)
    before, known = os.environ.get("HOPSCOPE_HOME"), vars(script_plan)["known_gpus"]
    os.environ["HOPSCOPE_HOME"] = str(made.home)
    # Only its name and number are needed of a GPU.
    vars(script_plan)["known_gpus"] = lambda: Gpus((CARD,))
    try:
        yield made
    finally:
        with contextlib.suppress(OSError):
            made.release()
        for run in registry.runs():
            with contextlib.suppress(Exception):
                registry.stop(run, grace_s=0)
        vars(script_plan)["known_gpus"] = known
        if before is None:
            del os.environ["HOPSCOPE_HOME"]
        else:
            os.environ["HOPSCOPE_HOME"] = before


def supervisor_of(run: Run) -> Identity:
    """The process that watches a run."""
    supervisor = run.reload().supervisor
    assert supervisor is not None
    return supervisor


def companion_of(run: Run) -> Identity:
    """The process that samples a run."""

    def find() -> Identity | None:
        return next((one for one in watchers(run) if COMPANION_MODULE in command_line(one.pid)), None)

    found = until(find, "the run has its companion")
    assert found is not None
    return found


def sampler_of(run: Run) -> Identity:
    """The sampler that the companion has."""
    companion = companion_of(run)
    return until(lambda: descendants(companion.pid), "the companion has its sampler")[0].identity


def watchers(run: Run) -> list[Identity]:
    """The processes that have the run's folder as an argument, and live."""
    folder, everyone = str(run.path), (entry.name for entry in PROC.iterdir())
    pids = [int(name) for name in everyone if name.isdigit() and folder in command_line(int(name))]
    return [one for pid in pids if pid != os.getpid() and (one := identify(pid)) and is_alive(one)]


def kill(process: Identity) -> None:
    """Kill -9, and wait until it is gone."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGKILL)
    until(lambda: not is_alive(process), "what was killed is gone")
