"""Inputs shared out over worker processes; what came of them, a row an entrance."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.hostile.worker import AT, ROOT, entrance

ENTRANCES = ("traces", "output", "folders", "state", "commands", "addresses", "sockets", "pages")
SILENT_S = 150.0
"""How long a worker may say nothing about one input before it counts as hanging."""
_WRITTEN = 30
"""Failures of one kind that are written out."""


@dataclasses.dataclass
class Outcome:
    """What came of an entrance's inputs."""

    name: str
    checked: str
    inputs: int
    seconds: float
    kinds: collections.Counter[str]
    """How often each fault was met."""
    first: dict[str, tuple[int, str]]
    """The first input of each fault, with what was seen."""

    @property
    def failures(self) -> int:
        """Inputs that failed."""
        return self.kinds.total()


def shares(total: int, names: Sequence[str]) -> dict[str, int]:
    """How many inputs each entrance gets: by what one costs, and by how much can be varied there."""
    whole = sum(entrance(name).SHARE for name in names)
    return {name: max(1, round(total * entrance(name).SHARE / whole)) for name in names}


def campaign(
    name: str,
    seed: int,
    numbers: range,
    failures: Path,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> Outcome:
    """Try the inputs of one entrance; each failing one is written into `failures`."""
    module = entrance(name)
    outcome = Outcome(name, module.CHECKED, len(numbers), 0.0, collections.Counter(), {})
    started = time.monotonic()
    at = numbers.start
    while at < numbers.stop:
        with _folder() as folder:
            at = _worker(outcome, seed, range(at, numbers.stop), folder, failures, progress)
    outcome.seconds = time.monotonic() - started
    return outcome


@contextlib.contextmanager
def _folder() -> Any:
    folder = Path(tempfile.mkdtemp(prefix="hostile-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _worker(
    outcome: Outcome,
    seed: int,
    numbers: range,
    folder: Path,
    failures: Path,
    progress: Callable[[int, int], None],
) -> int:
    """Try inputs in one process until it is through or gone; returns the number of the next input."""
    words = ["-m", "tests.hostile.worker", outcome.name, str(seed), str(numbers.start), str(numbers.stop)]
    with (folder / "stderr").open("wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-X", "faulthandler", *words, str(folder)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=stderr,
            start_new_session=True,
        )
    try:
        hung = not _listen(process, outcome, seed, failures, progress)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        status = process.wait()
    if not hung and status == 0:
        return numbers.stop
    try:
        number = int((folder / AT).read_text())
    except (OSError, ValueError):
        errors = (folder / "stderr").read_text(errors="replace")
        raise RuntimeError(f"the worker of {outcome.name} did not begin:\n{errors[-4000:]}") from None
    errors = (folder / "stderr").read_text(errors="replace")[-6000:]
    kind = "hangs" if hung else f"the process ends with status {status}"
    _note(
        outcome, seed, failures, {"number": number, "kind": kind, "words": f"{kind}\n{errors}", "notes": []}
    )
    return number + 1


def _listen(
    process: subprocess.Popen[bytes],
    outcome: Outcome,
    seed: int,
    failures: Path,
    progress: Callable[[int, int], None],
) -> bool:
    """Note what a worker says until it ends; False where it says nothing for too long."""
    assert process.stdout is not None
    waiting = b""
    while True:
        if not select.select([process.stdout], [], [], SILENT_S)[0]:
            return False
        piece = os.read(process.stdout.fileno(), 1 << 16)
        if not piece:
            process.wait()
            return True
        *lines, waiting = (waiting + piece).split(b"\n")
        for line in lines:
            said = json.loads(line)
            if "kind" in said:
                _note(outcome, seed, failures, said)
            else:
                progress(said["tried"], outcome.failures)


def _note(outcome: Outcome, seed: int, failures: Path, said: dict[str, Any]) -> None:
    kind, number = said["kind"], said["number"]
    outcome.kinds[kind] += 1
    outcome.first.setdefault(kind, (number, said["words"]))
    if outcome.kinds[kind] > _WRITTEN:
        return
    failures.mkdir(parents=True, exist_ok=True)
    again = f"python3 -m tests.hostile --only {outcome.name} --seed {seed} --input {number}"
    content = "\n".join([f"again: {again}", "", said["words"], "", *said["notes"]])
    (failures / f"{outcome.name}-{seed}-{number}.txt").write_text(content, errors="backslashreplace")


def table(outcomes: Sequence[Outcome]) -> str:
    """A row an entrance: inputs, what was checked, failures."""
    rows = [("ENTRANCE", "INPUTS", "FAILED", "FAULTS", "TOOK", "CHECKED")]
    rows += [
        (
            one.name,
            f"{one.inputs:,}",
            f"{one.failures:,}",
            str(len(one.kinds)),
            f"{one.seconds:,.0f} s",
            one.checked,
        )
        for one in outcomes
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *(row[at].rjust(widths[at]) for at in range(1, 5)), row[5]])
        for row in rows
    ]
    total = sum(one.inputs for one in outcomes)
    lines.append(f"{total:,} inputs, {sum(one.failures for one in outcomes):,} failed")
    return "\n".join(lines)
