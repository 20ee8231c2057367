"""What the Runs page costs with many runs: python benchmarks/many_runs.py [--against REVISION]

A real dashboard over run folders of real shape (spec, status, log, a trace), and real pages of it in
Chromium. Needs tests/requirements.txt and a browser. Printed are, for this tree and with `--against` for
another revision of it in the same run,

- the time from the address to the first row on the screen, of each page;
- for some seconds in which nothing changes: the server's CPU time by the kernel's clock of its process, and
  what each page received over its WebSockets;
- the same while one of the runs makes progress;
- the server's resident memory after that.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import datetime
import functools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.live_panel import cpu_percent, opened, table
from runners.runs.processes import boot_id, identify
from tests.e2e.conftest import Server, sign_in, start_server
from tests.unit.traces import SECOND, Trace, hop_fields

ROOT = Path(__file__).resolve().parent.parent
FIRST_ROW = '[data-testid="table-runs"] tbody tr'
LINES = 200
"""Progress lines of each run's log."""


def main() -> int:
    """Measure and print a table a revision."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=3000)
    parser.add_argument("--viewers", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=20, help="of each measurement (default 20)")
    parser.add_argument("--against", metavar="REVISION", help="measure this revision too, first")
    args = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hopscope-benchmark-")))
        home = folder / "home"
        make_runs(home / "runs", args.runs)
        trees = [("this tree", ROOT)]
        if args.against:
            trees.insert(0, (args.against, stack.enter_context(checked_out(args.against, folder))))
        print(f"{args.runs:,} runs, {args.viewers} pages, {args.seconds:g} s a measurement\n")
        browser = stack.enter_context(opened())
        for name, tree in trees:
            with start_server(home, folder, root=tree) as server:
                measure(name, server, args, browser)
    return 0


def make_runs(folder: Path, number: int) -> None:
    """Make the folders, the last of them of a run that goes on: this process is its supervisor."""
    began = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=30)
    for index in range(number):
        created = began + datetime.timedelta(minutes=index)
        path = folder / f"{created:%Y%m%d-%H%M%S}-tf-mirrored-{index:04x}"
        trace = Trace(path, devices=["cpu:0", "cpu:1", "cpu:2"])
        trace.event("hop", 0, trace.key("hop", 3, **hop_fields("cpu:1", "cpu:2")), SECOND)
        trace.close()
        (path / "spec.json").write_text(json.dumps(spec(path.name, created), indent=1))
        (path / "status.json").write_text(json.dumps(status(created, index + 1 == number), indent=1))
        (path / "out.log").write_text("".join(map(progress, range(1, LINES + 1))))


def spec(run: str, created: datetime.datetime) -> dict[str, Any]:
    """A spec as a catalogued program's run has it."""
    return {
        "run": run,
        "kind": "program",
        "name": "tf-mirrored",
        "framework": "tensorflow",
        "command": ["/venv/bin/python", "train.py", "--steps", str(LINES)],
        "cwd": "/work",
        "env": {"TF_CPP_MIN_LOG_LEVEL": "1"},
        "python": "/venv/bin/python",
        "devices": ["cpu:1", "cpu:2"],
        "stand_ins": 2,
        "device_map": {name: {"stand_in": True} for name in ("cpu:1", "cpu:2")},
        "steps": LINES,
        "options": {"reduction": "nccl", "batch": 64},
        "versions": {f"package-{number}": "1.2.3" for number in range(60)} | {"tensorflow": "2.21.0"},
        "host": {"name": "workstation"},
        "created": created.isoformat(timespec="milliseconds"),
        "origin": "cli",
    }


def status(created: datetime.datetime, going_on: bool) -> dict[str, Any]:
    """The status of a run that has ended, or of one whose supervisor is this process."""
    started = created.timestamp()
    ended = {"state": "finished", "exit_code": 0, "signal": None, "reason": None}
    times = {"started": started, "ended": None if going_on else started + 42.0}
    if not going_on:
        return ended | times
    me = identify(os.getpid())
    assert me is not None
    watched = {"supervisor_pid": me.pid, "supervisor_start": me.start, "boot_id": boot_id()}
    return {**ended, "state": "running", "exit_code": None} | times | watched


def progress(step: int) -> str:
    """A line as catalogued programs print it."""
    return f"step {step}/{LINES} loss {4 / step:.4f} 31.2 steps/s\n"


@contextlib.contextmanager
def checked_out(revision: str, folder: Path) -> Iterator[Path]:
    """The files of another revision, beside this one's environment."""
    tree = folder / "other"
    git = ["git", "-C", str(ROOT), "worktree"]
    subprocess.run([*git, "add", "--detach", "--quiet", str(tree), revision], check=True)
    for name in (".venv", ".venvs"):
        (tree / name).symlink_to((ROOT / name).resolve())
    try:
        yield tree
    finally:
        subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def measure(name: str, server: Server, args: argparse.Namespace, browser: Any) -> None:
    """Print what the pages of one server cost it."""
    pages = [RunsPage(server, browser) for _ in range(args.viewers)]
    wait = pages[0].page.wait_for_timeout
    wait(5000)
    rows = []
    for title, moves in (("nothing changes", False), ("one makes progress", True)):
        for page in pages:
            page.received = 0
        percent = cpu_percent(server, functools.partial(let_pass, server, wait, args.seconds, moves))
        each = [page.received for page in pages]
        rows.append((title, f"{percent * args.seconds / 100:.2f}", *map(kilobytes, (min(each), max(each)))))
    for page in pages:
        page.page.context.close()
    first = sorted(page.first_row_s for page in pages)
    heads = (name, "CPU s", "KB a page, least", "most")
    table(f"In {args.seconds:g} s", heads, *rows)
    table(
        "All in all",
        (name, "address to row s, median", "longest", "server MiB"),
        ("", f"{statistics.median(first):.2f}", f"{first[-1]:.2f}", f"{resident(server):.0f}"),
    )


class RunsPage:
    """A page of another viewer's; `received` counts what comes over its WebSockets, in bytes."""

    def __init__(self, server: Server, browser: Any) -> None:
        context = browser.new_context(viewport={"width": 1400, "height": 900})
        sign_in(context, server.url, "operator")
        self.page = context.new_page()
        self.page.set_default_timeout(120_000)
        self.received = 0
        client = context.new_cdp_session(self.page)
        client.send("Network.enable")
        client.on("Network.webSocketFrameReceived", self._count)
        began = time.monotonic()
        self.page.goto(f"{server.url}/runs")
        self.page.wait_for_selector(FIRST_ROW)
        self.first_row_s = time.monotonic() - began

    def _count(self, event: dict[str, Any]) -> None:
        response = event["response"]
        binary = response["opcode"] == 2
        data = response["payloadData"]
        self.received += len(base64.b64decode(data)) if binary else len(data.encode())


def let_pass(server: Server, wait: Any, seconds: float, moves: bool) -> None:
    """Let the time pass; with `moves` the last run prints a line each second."""
    newest = max((server.home / "runs").iterdir())
    for second in range(round(seconds)):
        if moves:
            with (newest / "out.log").open("a") as log:
                log.write(progress(second + 1))
        wait(1000)


def kilobytes(count: int) -> str:
    """Bytes for the table."""
    return f"{count / 1000:,.1f}"


def resident(server: Server) -> float:
    """The server's memory, MiB."""
    lines = Path(f"/proc/{server.process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) / 1024


if __name__ == "__main__":
    raise SystemExit(main())
