"""What a program prints -> the log's tail, progress, verdicts, the last exception, report, terminal."""

from __future__ import annotations

import contextlib
import io
import json
import random
import sys
from collections.abc import Callable, Iterator

from app.lessons.of_run import claim_of
from app.reports.html import render_html
from app.reports.run_report import run_report
from app.reports.text import render_text
from app.store.failure import last_exception
from app.store.log import read_tail
from app.store.progress import ProgressReader, last_progress
from app.store.verdicts import VerdictReader
from app.views.progress import progress_figure
from app.web.shared.run_rows import run_row
from runners.runs.run import read_run
from tests.hostile import ground as checks
from tests.hostile import material
from tests.hostile.folders import put_folder, wiped
from tests.hostile.ground import Ground, watch
from tests.hostile.seeds import seeds

SHARE = 120
CHECKED = "tail, progress, verdicts and exception of a log; the report that tells of them; a page's data"

_LINES = (
    b"step 12/100 loss 0.4321 31.2 steps/s",
    b"step 1/0 loss nan inf steps/s",
    b"step 999999999999999/999999999999999 loss 1e999999 -1e-999 steps/s",
    b"step 000000000000001/1 loss +.5",
    b"Step 5/3 LOSS -Inf NaN STEPS/S",
    b"verdict holds: measured 3.1 times",
    b"verdict does not hold: %b",
    b"verdict not testable here: %b",
    b"worker-0 | verdict holds: %b",
    b"hopscope: stage record: 2 of 2",
    b"hopscope: stage measure: %b",
    b"Traceback (most recent call last):",
    b'  File "train.py", line 31, in <module>',
    b'  File "%b", line 99999999999999999999999, in %b',
    b'  File "/src/train.py", line 0',
    b"    raise ValueError(x)",
    b"ValueError: %b",
    b"KeyError",
    b"worker-1 | Traceback (most recent call last):",
    b"  [Previous line repeated 996 more times]",
    b"During handling of the above exception, another exception occurred:",
    b"%b",
)


@contextlib.contextmanager
def opened(ground: Ground) -> Iterator[Callable[[random.Random], None]]:
    """What tries one input."""
    runs = ground.home / "runs"
    runs.mkdir()
    watch(ground)

    def attempt(rng: random.Random) -> None:
        log = printed(rng)
        ground.note("out.log", log[: 1 << 20])
        state = rng.choice(("finished", "failed", "running", "stopped"))
        spec = dict(json.loads(rng.choice(seeds()).files["spec.json"]))
        spec |= {"kind": "program", "name": "tf-mirrored"} if rng.random() < 0.3 else {}
        spec |= {"stages": [{"name": "measure"}, {"name": "record"}]} if rng.random() < 0.2 else {}
        status = {"state": state, "exit_code": 1, "reason": material.text(rng)}
        files = {
            "out.log": log,
            "spec.json": json.dumps(spec).encode(),
            "status.json": json.dumps(status).encode(),
        }
        folder = wiped(runs / "20261122-191920-hostile-7777")
        put_folder(folder, files)
        read_all(folder, rng, log)

    yield attempt


def read_all(folder: object, rng: random.Random, log: bytes) -> None:
    """Read a log in every way, also while it grows, and check what comes out."""
    run = read_run(folder)  # type: ignore[arg-type]  # a Path, whatever tries it
    progress, verdicts = ProgressReader(run.path), VerdictReader(run.path)
    half = rng.randint(0, len(log))
    run.log.write_bytes(log[:half])
    progress.refresh(), verdicts.refresh()
    run.log.write_bytes(log)
    progress.refresh(), verdicts.refresh()
    tail = read_tail(run.path)
    for line in tail.lines:
        checks.check_terminal(line)
    for verdict in verdicts.verdicts():
        checks.check_terminal(verdict.text)
    figure = progress_figure(progress.progress())
    json.dumps(figure, allow_nan=False).encode()
    json.dumps(run_row(run, last_progress(run.path), True), allow_nan=False).encode()
    raised = last_exception(run.path, run.spec)
    if raised is not None:
        checks.check_terminal(raised.told)
    claim_of(run)
    if rng.random() < 0.9:  # most of a report's time goes into what has nothing to do with the log
        return
    report = run_report(run.path)
    json.dumps(report, allow_nan=False)
    checks.check_terminal(render_text(report))
    checks.check_html(render_html(report))


def printed(rng: random.Random) -> bytes:
    """A program's output."""
    parts = []
    for _ in range(rng.choice((0, 1, 5, 30, 300))):
        line = rng.choice(_LINES)
        words = [material.text(rng).encode("utf-8", "surrogatepass") for _ in range(line.count(b"%b"))]
        parts.append(line % tuple(words) if words else line)
        parts.append(rng.choice((b"\n", b"\n", b"\n", b"\r", b"\r\n", b"", b"\x1b[K\r")))
        if rng.random() < 0.02:
            parts.append(
                rng.choice((b"x", b"\xff", b"\0", b"step ", b"\x1b]", b"\r")) * rng.choice((3000, 300_000))
            )
    made = b"".join(parts)
    return material.damaged_bytes(rng, made) if rng.random() < 0.3 else made


class Printed(io.TextIOWrapper):
    """Stands in for standard output: strict UTF-8, as a terminal's is."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", errors="strict", write_through=True)

    def content(self) -> bytes:
        """What was written."""
        buffer = self.buffer
        assert isinstance(buffer, io.BytesIO)
        return buffer.getvalue()


@contextlib.contextmanager
def captured() -> Iterator[tuple[Printed, Printed]]:
    """Standard output and error of what runs inside; nothing is read from standard input."""
    out, err = Printed(), Printed()
    kept = sys.stdout, sys.stderr, sys.stdin
    sys.stdout, sys.stderr, sys.stdin = out, err, io.TextIOWrapper(io.BytesIO())
    try:
        yield out, err
    finally:
        sys.stdout, sys.stderr, sys.stdin = kept
