"""Trace records, counts and source of a run -> the store, the report in all forms, what pages draw."""

from __future__ import annotations

import contextlib
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from app.reports.html import render_html
from app.reports.run_report import run_report
from app.reports.text import render_text
from app.web.shared.address import RunAddress
from tests.hostile import ground as checks
from tests.hostile import material
from tests.hostile.drawn import draw_all
from tests.hostile.folders import put_folder, wiped
from tests.hostile.ground import Ground, watch
from tests.hostile.seeds import Seed, field_names, seeds

SHARE = 20
CHECKED = "report as text, JSON and HTML, live and sealed; diagram, matrix, timeline, source, all tables"


@contextlib.contextmanager
def opened(ground: Ground) -> Iterator[Callable[[random.Random], None]]:
    """What tries one input."""
    runs = ground.home / "runs"
    runs.mkdir()
    watch(ground)

    def attempt(rng: random.Random) -> None:
        folder = wiped(runs / "20261122-191920-hostile-7777")
        put_folder(folder, hostile_run(rng))
        ground.notes.append(f"trace:\n{(folder / 'trace' / 'main.jsonl').read_bytes()!r}")
        read_all(folder, rng)

    yield attempt


def read_all(folder: Path, rng: random.Random) -> None:
    """Read a run in every way, as it is and, of some, as it is once it is sealed; check what comes out."""
    report = run_report(folder, ops=True, seal=False)
    check_report(report)
    if rng.random() < 0.5:
        draw_all(folder, address(rng, report))
    if rng.random() < 0.25:
        check_report(run_report(folder, ops=True))
        draw_all(folder, address(rng, report))


def check_report(report: dict[str, Any]) -> None:
    """The report in all its forms."""
    checks.check_secret(json.dumps(report, allow_nan=False))
    checks.check_terminal(render_text(report))
    page = render_html(report)
    checks.check_html(page)
    page.encode()


def address(rng: random.Random, report: dict[str, Any]) -> RunAddress:
    """What a reader may have picked: something of the report, or anything."""

    def one(known: list[str]) -> str:
        return rng.choice(known) if known and rng.random() < 0.7 else material.text(rng)

    devices = list(report["devices"])
    query: dict[str, list[str]] = {}
    sites = [hop["site"] for hop in report["hops"] if hop["site"]]
    findings = [f"{row['code']}@{row['site'] or ''}" for row in report["findings"]]
    choices: dict[str, Callable[[], str]] = {
        "pair": lambda: f"{one(devices)}>{one(devices)}",
        "group": lambda: one(["1/gpu:0", "eager"]),
        "finding": lambda: one(findings),
        "line": lambda: one(sites),
        "hop": lambda: str(rng.choice((0, 1, 2, 10**8))),
        "graph": lambda: one(["eager", "1", "2", "3"]),
        "open": lambda: one(["dense", "gradients"]),
        "t": lambda: rng.choice(("0-1", "1e-9-2e-9", "0-1e300", "5-4", "nan-1", "0-1e-320")),
    }
    for name in rng.sample(list(choices), rng.randint(0, 4)):
        query[name] = [choices[name]()]
    return RunAddress.read({"run": ["hostile"], **query})


def hostile_run(rng: random.Random) -> dict[str, bytes]:
    """The files of a run folder, made of a sound one."""
    seed = rng.choice(seeds())
    lines = list(seed.trace)
    kind = rng.random()
    if kind < 0.80:
        for _ in range(rng.choice((1, 1, 2, 4, 8, 30))):
            _change_line(rng, lines)
    if 0.7 < kind < 0.85:
        rng.shuffle(lines) if rng.random() < 0.3 else _invent(rng, lines)
    data = b"\n".join(lines) + b"\n"
    if kind > 0.85:
        data = material.damaged_bytes(rng, data)
    files = {"trace/main.jsonl": data, "trace/main.counts": _counts(rng, seed)}
    files |= {name: content for name, content in seed.files.items() if name != "trace/refused"}
    if rng.random() < 0.1:
        files["trace/second.jsonl"] = data
        files["trace/second.counts"] = _counts(rng, seed)
    if rng.random() < 0.1:
        name = rng.choice([name for name in files if "/source/" in name] or ["out.log"])
        files[name] = material.damaged_bytes(rng, files[name])
    if rng.random() < 0.1:
        files["trace/refused"] = (
            material.as_json(rng, ["U", material.value(rng), material.value(rng), "why"]) + b"\n"
        )
    return files


def _counts(rng: random.Random, seed: Seed) -> bytes:
    if rng.random() < 0.7:
        return seed.counts
    return (
        material.damaged_bytes(rng, seed.counts) if rng.random() < 0.7 else rng.randbytes(rng.randrange(999))
    )


def _change_line(rng: random.Random, lines: list[bytes]) -> None:
    if not lines:
        return
    at = rng.randrange(len(lines))
    tags = [b'["K"', b'["N"', b'["H"', b'["I"', b'["G"', b'["L"', b'["U"', b'["S"', b'["E"', b'["e"']
    tag = rng.choice(tags)
    of_tag = [number for number, line in enumerate(lines) if line.startswith(tag)]
    at = rng.choice(of_tag) if of_tag else at
    try:
        row = json.loads(lines[at])
    except (ValueError, RecursionError):  # made so before
        return
    kind = rng.random()
    if (
        kind < 0.1
        and isinstance(row, list)
        and row[:1] == ["K"]
        and len(row) > 3
        and isinstance(row[3], dict)
    ):
        row[3] = {**row[3], rng.choice(field_names()): material.value(rng)}
    elif kind < 0.15 and isinstance(row, list) and row and isinstance(row[-1], dict):
        row[-1] = {**row[-1], rng.choice(field_names()): material.value(rng)}
    else:
        row = material.damaged_value(rng, row)
    lines[at] = material.as_json(rng, row).replace(b"\n", b"\\n")


def _invent(rng: random.Random, lines: list[bytes]) -> None:
    """Records that no recorder writes."""
    for _ in range(rng.randint(1, 20)):
        row = [rng.choice("HISLKGNEUex"), *(material.value(rng) for _ in range(rng.randint(0, 9)))]
        lines.insert(rng.randint(0, len(lines)), material.as_json(rng, row).replace(b"\n", b"\\n"))
