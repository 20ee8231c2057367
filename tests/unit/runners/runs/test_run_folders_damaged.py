"""A damaged or hostile run folder takes nothing from the others and shows nothing from elsewhere."""

from __future__ import annotations

import json
import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.cli import dispatch
from app.store.log import read_tail
from app.store.progress import last_progress
from app.web.run import run_header
from app.web.shared import run_rows
from runners.runs import registry
from tests.unit.traces import SECOND, Trace, hop_fields, write_status

SECRET = "MARK-OF-ANOTHER-FILE"
WHOLE, DAMAGED = "20260101-000000-whole-0001", "20260101-000000-damaged-0002"
SPEC: dict[str, Any] = {
    "run": DAMAGED,
    "kind": "script",
    "name": "train",
    "framework": "tensorflow",
    "command": ["python", "train.py"],
    "cwd": "/work",
    "env": {"A": "b"},
    "devices": ["cpu:1"],
    "device_map": {"cpu:1": {"stand_in": True, "name": "CPU"}},
    "machine": {"gpus": [], "cuda_orders": {}, "environment": {}},
    "stand_ins": 1,
    "steps": 3,
    "options": {"size": 4},
    "versions": {"tensorflow": "2.21.0"},
    "host": {"name": "here"},
    "sampled_gpus": [],
    "created": "2026-01-01T00:00:00+00:00",
    "origin": "cli",
    "trial": {"of": WHOLE, "finding": "host-sync@a.py:1", "edited": []},
    "preflight": {"gpus": 2, "steps": 3, "seconds": 1.0},
    "lesson": {"program": "tf-mirrored", "variant": "default"},
    "stages": [{"name": "run", "note": None, "members": [{"name": "a", "command": ["x"], "env": {}}]}],
    "resumed_from": WHOLE,
    "time_limit_s": 10.0,
}
STATUS: dict[str, Any] = {
    "state": "finished",
    "exit_code": 0,
    "signal": None,
    "reason": "said",
    "pid": 1,
    "supervisor_pid": 1,
    "supervisor_start": 1,
    "boot_id": "x",
    "started": 1.7e9,
    "ended": 1.7e9,
    "stage": {"name": "run", "number": 1, "of": 2},
    "members": [{"name": "a", "pid": 1, "exit_code": 0, "signal": None}],
    "attached": [{"pid": 1, "start": 1, "boot": "x", "host": "h", "joined": 1.0, "left": 2.0}],
    "samples_lost": 0,
}
HEADER: dict[str, Any] = {
    "pid": 3,
    "host": "elsewhere",
    "role": "worker",
    "rank": 1,
    "framework_version": "2.21.0",
    "argv": ["train.py"],
    "root": "/work",
    "devices": ["cpu:0"],
    "device_map": {"cpu:0": {"name": "CPU"}},
    "default_device": "cpu:0",
    "source_notes": {"train.py": "changed"},
    "host_copy": {"bytes": 1, "ns": 1},
    "cuda_environment": {"CUDA_VISIBLE_DEVICES": None},
}
NESTED = json.loads("[" * 90 + "]" * 90)
VALUES: dict[str, Any] = {
    "huge-number": 10**400,
    "negative": -(10**30),
    "nan": float("nan"),
    "infinite": float("-inf"),
    "late": 1e300,
    "surrogate": "\ud800",
    "escape": "\x1b]0;title\x07\x1b[2J\r\n",
    "bidi": "a\u202eb",
    "nul": "a\0b",
    "long": "x" * 2_000_000,
    "list": [1, None, "x"],
    "object": {"x": {"y": []}},
    "truth": True,
    "text": "text",
    "nested": NESTED,
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    monkeypatch.setenv("HOPSCOPE_HOME", str(folder))
    (tmp_path / "secret").write_text(f"{SECRET} step 5/9 loss 1.0\n")
    make(folder / "runs" / WHOLE)
    return folder


def make(path: Path, spec: Any = None, status: Any = None, header: Any = None) -> Path:
    trace = Trace(path, **(HEADER if header is None else header))
    trace.event("hop", 0, trace.key("hop", 3, **hop_fields("cpu:1", "cpu:2")), SECOND)
    trace.close()
    write_status(path)
    (path / "spec.json").write_text(json.dumps(SPEC if spec is None else spec))
    (path / "status.json").write_text(json.dumps(STATUS if status is None else status))
    (path / "out.log").write_text("step 1/3 loss 0.5\n")
    (path / "samples.jsonl").write_text('{"t": 1.0, "full": true}\n')
    return path


def everything(capsys: pytest.CaptureFixture[str]) -> str:
    """All that is shown of the registry: by the commands and in the rows of the pages."""
    shown = []
    for words in (["runs"], ["runs", "--json"], ["report", DAMAGED], ["report", DAMAGED, "--json"]):
        status = dispatch.main(words)
        printed = capsys.readouterr()
        out, err = printed.out, printed.err
        assert "Traceback" not in out + err
        assert all(char.isprintable() or char == "\n" for char in out + err), words
        if words[-1] == "--json":
            shown.append(json.dumps(json.loads(out, parse_constant=never)) if status == 0 else err)
        if words[0] == "runs":
            assert status == 0, err
            assert WHOLE in out
        shown.append(out + err)
    runs = registry.runs()
    assert WHOLE in {run.id for run in runs}
    for run in runs:
        row = run_rows.run_row(run, last_progress(run.path), True)
        shown.append(json.dumps([row, run_rows.broken_row(run, True)], allow_nan=False))
        shown.append(run_header.command_text(run.spec))
        shown.append(read_tail(run.path).text)
        run_rows.page_buttons(run, run.state)
        "".join(shown).encode()
    return "".join(shown)


def never(name: str) -> Any:
    raise AssertionError(f"{name} is no JSON")


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("where", ["spec", "status", "header"])
def test_a_value_of_any_kind_in_every_field(
    home: Path, capsys: pytest.CaptureFixture[str], where: str, kind: str
) -> None:
    fields = {"spec": SPEC, "status": STATUS, "header": HEADER}[where]
    value = VALUES[kind]
    # All at once, and one by one what tells the state and when.
    cases = [dict.fromkeys(fields, value)]
    single = ("name", "state", "started", "created")
    cases += [{**fields, name: value} for name in single if name in fields]
    for case in cases:
        if where == "header" and value is NESTED:
            continue  # the recorder's own writer makes it
        make(home / "runs" / DAMAGED, **{where: case})
        everything(capsys)
        shutil.rmtree(home / "runs" / DAMAGED)


def test_a_damaged_field_is_named(home: Path) -> None:
    make(
        home / "runs" / DAMAGED,
        spec={**SPEC, "steps": "many", "devices": 4},
        status={**STATUS, "started": 1e300},
    )
    run = registry.named(DAMAGED)
    assert run.state == "finished"
    assert run.problem == (
        "spec.json is damaged: devices, steps have values of a wrong type; "
        "status.json is damaged: started has a value of a wrong type"
    )


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("[" * 200_000, "it is not JSON"),
        ('{"a":' * 100 + "1" + "}" * 100, "it is nested too deeply"),
        ('{"name": "' + "x" * (9 << 20) + '"}', "it is larger than 8,192 KiB"),
        ('{"steps": ' + "9" * 5000 + "}", "it is not JSON"),
        ('{"steps": ' + "9" * 400 + "}", "it has text or numbers that cannot be shown"),
        ('{"x": NaN}', "it has text or numbers that cannot be shown"),
        ('{"x": "\\ud800"}', "it has text or numbers that cannot be shown"),
        (b'{"x": "\xff"}', "it is not JSON"),
    ],
    ids=["deep", "rather-deep", "huge", "endless-number", "long-number", "nan", "surrogate", "bytes"],
)
def test_a_damaged_spec_is_shown_with_its_reason(
    home: Path, capsys: pytest.CaptureFixture[str], content: str | bytes, why: str
) -> None:
    path = make(home / "runs" / DAMAGED)
    (path / "spec.json").write_bytes(content if isinstance(content, bytes) else content.encode())
    assert why in (registry.named(DAMAGED).problem or "")
    everything(capsys)


def link(path: Path, secret: Path) -> None:
    path.symlink_to(secret)


def fifo(path: Path, _: Path) -> None:
    os.mkfifo(path)


def socket_file(path: Path, _: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        here = Path.cwd()
        os.chdir(path.parent)  # the name of a socket is short
        try:
            made.bind(path.name)
        finally:
            os.chdir(here)


def device(path: Path, _: Path) -> None:
    path.symlink_to("/dev/zero")


def folder(path: Path, _: Path) -> None:
    path.mkdir()


FILES = (
    "spec.json",
    "status.json",
    "out.log",
    "samples.jsonl",
    "stop.json",
    "copy_costs.json",
    "trace/main.jsonl",
    "trace/main.counts",
    "trace/sources",
    "trace",
    "dataflow",
    "edited",
    "tables",
)


@pytest.mark.parametrize("kind", [link, fifo, socket_file, device, folder])
@pytest.mark.parametrize("name", FILES)
def test_nothing_but_files_of_its_own_is_read(
    home: Path, capsys: pytest.CaptureFixture[str], name: str, kind: Callable[[Path, Path], None]
) -> None:
    path = make(home / "runs" / DAMAGED)
    place = path / name
    if place.is_dir():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)
    kind(place, home.parent / "secret")
    assert SECRET not in everything(capsys)
    registry.remove(registry.listed(DAMAGED))
    assert (home.parent / "secret").exists()


@pytest.mark.parametrize("name", ["keys", "events", "samples", "overview", "seal"])
def test_sealed_tables_are_not_read_through_links(
    home: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    path = make(home / "runs" / DAMAGED)
    assert dispatch.main(["report", DAMAGED]) == 0
    place = path / "tables" / (f"{name}.json" if name == "seal" else f"{name}.parquet")
    elsewhere = home.parent / place.name
    place.rename(elsewhere)
    place.symlink_to(elsewhere)
    from app.store.sealing import read_manifest

    assert read_manifest(path) is None
    everything(capsys)
    assert elsewhere.exists()


def test_a_folder_elsewhere_is_read_and_left_as_it_is(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = make(tmp_path / "received")
    before = sorted((str(one), one.lstat().st_mtime_ns) for one in [path, *path.rglob("*")])
    for words in (["report", str(path)], ["report", str(path), "--json"]):
        assert dispatch.main(words) == 0
    for words in (["rm", "--yes", str(path)], ["stop", str(path)]):
        assert dispatch.main(words) == 2
        assert "is left alone" in capsys.readouterr().err
    assert sorted((str(one), one.lstat().st_mtime_ns) for one in [path, *path.rglob("*")]) == before
