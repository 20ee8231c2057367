"""Run folders of which nothing is believed -> the registry, runs, report, stop, rm and the Runs page."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from app.cli.dispatch import main
from app.reports.run_report import run_report
from app.store.progress import last_progress
from app.web.shared.run_rows import broken_row, run_row
from runners.runs import registry
from tests.hostile import ground as checks
from tests.hostile import material
from tests.hostile.entrances.output import captured, printed
from tests.hostile.entrances.traces import hostile_run
from tests.hostile.folders import put_folder, put_odd, wiped
from tests.hostile.ground import Ground, Harm, watch
from tests.hostile.seeds import Seed, field_names, seeds

SHARE = 10
CHECKED = (
    "runs, report (text, JSON, HTML), stop, rm; the Runs page's rows; links, FIFOs, devices, sealed tables"
)

_NAMES = (
    "spec.json",
    "status.json",
    "stop.json",
    "samples.jsonl",
    "out.log",
    "trace",
    "tables",
    "tables/seal.json",
)
_ODD = ("fifo", "folder", "device", "link", "link", "link", "loop", "unreadable")
_STATUSES = (0, 1, 2, 130)


@contextlib.contextmanager
def opened(ground: Ground) -> Iterator[Callable[[random.Random], None]]:
    """What tries one input."""
    runs = ground.home / "runs"
    sealed = [_sealed(ground, seed) for seed in seeds()[:4]]
    watch(ground)

    def attempt(rng: random.Random) -> None:
        wiped(runs)
        runs.mkdir()
        names = [hostile_folder(rng, ground, runs, sealed) for _ in range(rng.choice((1, 1, 2, 4)))]
        ground.may_start = False
        _registry()
        for words in _commands(rng, names):
            _carry_out(words)

    yield attempt


def _sealed(ground: Ground, seed: Seed) -> Path:
    """A sound run whose tables are on the disk."""
    folder = ground.folder / "sealed" / seed.name
    files = {
        "trace/main.jsonl": b"\n".join(seed.trace) + b"\n",
        "trace/main.counts": seed.counts,
        **seed.files,
    }
    put_folder(folder, files)
    run_report(folder)
    return folder


def hostile_folder(rng: random.Random, ground: Ground, runs: Path, sealed: list[Path]) -> str:
    """Put a run folder on the disk; returns its name."""
    name = rng.choice(
        (f"20261122-19192{rng.randrange(10)}-hostile-{rng.getrandbits(16):04x}", material.name(rng))
    )
    folder = runs / name
    if folder.exists() or folder.is_symlink():
        return name
    if rng.random() < 0.05:
        folder.symlink_to(
            rng.choice((ground.outside, ground.folder, runs, Path("/proc/self"), Path("nowhere")))
        )
        return name
    if rng.random() < 0.4:
        shutil.copytree(rng.choice(sealed), folder, symlinks=True)
    else:
        seed = rng.choice(seeds())
        files = (
            hostile_run(rng)
            if rng.random() < 0.3
            else {"trace/main.jsonl": b"\n".join(seed.trace), **seed.files}
        )
        put_folder(folder, files)
    for _ in range(rng.choice((1, 1, 2, 3))):
        _harm_file(rng, ground, folder)
    shown = {str(path.relative_to(folder)): _content(path) for path in folder.rglob("*")}
    ground.note(f"folder {name!r}", shown)
    return name


def _content(path: Path) -> object:
    if path.is_symlink():
        return f"-> {path.readlink()}"
    return path.read_bytes()[:5000] if path.is_file() and path.stat().st_mode & 0o400 else "no file"


def _harm_file(rng: random.Random, ground: Ground, folder: Path) -> None:
    kind = rng.random()
    if kind < 0.45:
        name = rng.choice(("spec.json", "status.json", "status.json"))
        _put(folder / name, _json(rng, ground, folder, name))
    elif kind < 0.55:
        _put(folder / "samples.jsonl", _samples(rng, folder))
    elif kind < 0.62:
        _put(folder / "stop.json", material.as_json(rng, material.value(rng)))
        _put(folder / "out.log", printed(rng))
    elif kind < 0.80:
        files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
        if files:
            path = rng.choice(files)
            _put(path, material.damaged_bytes(rng, path.read_bytes()))
    else:
        files = [path for path in folder.rglob("*") if path.is_file()] or [folder / "spec.json"]
        path = folder / rng.choice(_NAMES) if rng.random() < 0.6 else rng.choice(files)
        if path.parent.is_dir():
            secret = rng.choice(
                (ground.outside / ".ssh" / "id_rsa", ground.outside, ground.folder / "secret-beside.txt")
            )
            put_odd(path, rng.choice(_ODD), secret)


def _put(path: Path, data: bytes) -> None:
    """Write a file in place of what is there: through a link it would be another's."""
    if not path.is_symlink() and path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    path.write_bytes(data)


def _sound(path: Path) -> Any:
    """What a file holds; an empty object where it is none, or was made hostile before."""
    try:
        return json.loads(path.read_bytes()) if path.is_file() and not path.is_symlink() else {}
    except (OSError, ValueError, RecursionError):
        return {}


def _json(rng: random.Random, ground: Ground, folder: Path, name: str) -> bytes:
    made = _sound(folder / name)
    for _ in range(rng.choice((1, 1, 3, 10))):
        made = material.damaged_value(rng, made)
    if isinstance(made, dict):
        for _ in range(rng.choice((0, 1, 3))):
            made[rng.choice(field_names())] = material.value(rng)
        if name == "status.json":
            made |= _forged(rng, ground)
    return material.as_json(rng, made)


def _forged(rng: random.Random, ground: Ground) -> dict[str, Any]:
    """Processes that are not the run's, and programs to be started."""
    stat = Path(f"/proc/{ground.victim.pid}/stat").read_text().rpartition(")")[2].split()
    victim = {
        "pid": ground.victim.pid,
        "start": int(stat[19]),
        "boot": Path("/proc/sys/kernel/random/boot_id").read_text().strip(),
    }
    some = rng.choice((victim, {**victim, "pid": rng.choice((0, -1, 1, 2**40))}, material.value(rng)))
    fields = {
        "state": rng.choice(
            ("running", "starting", "finished", "failed", "stopped", "lost", material.value(rng))
        ),
        "supervisor": some,
        "program": some,
        "members": [some, {"name": material.text(rng), **victim}],
        "attached": [some],
        "left": [some],
    }
    return {key: fields[key] for key in rng.sample(list(fields), rng.randint(0, 3))}


def _samples(rng: random.Random, folder: Path) -> bytes:
    path = folder / "samples.jsonl"
    lines = path.read_bytes().splitlines() if path.is_file() and not path.is_symlink() else []
    made = []
    for line in lines[:20] or [b"{}"]:
        try:
            made.append(material.as_json(rng, material.damaged_value(rng, json.loads(line))))
        except (ValueError, RecursionError):
            made.append(line)
    return b"\n".join(made) + b"\n"


def _registry() -> None:
    """What the Runs page shows of all folders."""
    found = registry.runs()
    known = {run.id for run in found}
    for run in found:
        if run.problem is not None and run.state == "lost":
            row = broken_row(run, True)
        else:
            row = run_row(run, last_progress(run.path), True, known=known)
        text = json.dumps(row, allow_nan=False)  # as Streamlit sends it
        checks.check_secret(text)


def _commands(rng: random.Random, names: list[str]) -> Iterator[list[str]]:
    yield ["runs"]
    yield ["runs", "--json"]
    name = rng.choice(names)
    yield [
        "report",
        name,
        *rng.choice(
            ([], ["--ops", "--notes"], ["--json"], ["--html", f"{os.environ['TMPDIR']}/report.html"])
        ),
    ]
    yield ["stop", name, "--grace", "0"]
    yield ["rm", "--yes", rng.choice(names)]


def _carry_out(words: list[str]) -> None:
    """Carry out a command, and check its status and what it prints."""
    with captured() as (out, err):
        status = carried_out(words)
    printed = out.content().decode(), err.content().decode()
    check_command(words, status, *printed)


def carried_out(words: list[str]) -> object:
    """The status of a command; that of an exit where it has one."""
    try:
        return main(words)
    except SystemExit as end:
        return end.code


def check_command(words: list[str], status: object, out: str, err: str) -> None:
    """Raise Harm where a command ends or speaks as none may."""
    if status not in _STATUSES:
        raise Harm(f"{words} ends with status {status!r}")
    checks.check_terminal(out)
    checks.check_terminal(err)
    if "Traceback" in err:
        raise Harm(f"{words} prints a traceback: {err[-2000:]}")
    if status and len(lines := err.splitlines()) > 1:
        raise Harm(f"{words} says more than one line of its error: {lines[:4]}")
