"""A finished run is sealed into Parquet once, whole or not at all, and answers as it did before."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from app.store import sealed, sealing
from app.store.run import RunStore, open_run
from runners.errors import HopscopeError
from tests.unit.traces import SECOND, Trace, hop_fields, write_status


def a_finished_run(folder: Path) -> None:
    """Two processes, a graph, eager hops, syncs, memory, steps, and something unreadable."""
    trace = Trace(folder)
    loc = trace.location("train.py:7", via="keras/fit.py:fit")
    graph = trace.graph("step", loc=loc, step_marks=1)
    trace.node(graph, 1, "a/MatMul", "MatMul", "cpu:1", "cpu:1", loc)
    trace.node(graph, 2, "b/Relu", "Relu", "cpu:2", "", loc, loc)
    trace.edge(graph, 1, 2, None, "?x256")
    call = trace.key("call", 50, graph=graph, function="step", loc=loc)
    trace.key("hop", **hop_fields("cpu:1", "cpu:2", graph=graph, per_call=1, loc=loc, bytes=None))
    hop = trace.key("hop", 250, **hop_fields("cpu:0", "cpu:1", loc=loc, kind="upload"))
    sync = trace.key("sync", 250, device="cpu:1", kind="numpy", loc=loc, bytes=4, basis="measured")
    memory = trace.key("memory", 2, device="cpu:1", what="peak", basis="estimated", why="live tensors")
    mark = trace.key("mark", 50, name="step")
    for step in range(50):
        at = step * SECOND // 10
        trace.event("call", at, call, SECOND // 20, step=step)
        trace.event("hop", at + 5, hop, 100, 5, step)
        trace.event("sync", at + 9, sync, 1000, 1, step, value=step)
        trace.event("mark", at + SECOND // 20, mark, step=step + 1)
    trace.event("sync", 4 * SECOND, sync, 0, 200)
    trace.event("memory", SECOND, memory, value=1 << 20)
    trace.event("memory", 2 * SECOND, memory, value=3 << 20)
    trace.facts(devices=["cpu:0", "cpu:1", "cpu:2"], device_map={"cpu:1": {"stand_in": True}})
    trace.writer.append_bytes(b"garbage\n")
    trace.close()
    child = Trace(folder, "child", process="fork", mono_ns=2000)
    child.event("op", 77, child.key("op", 1, op="Add", device="cpu:0", loc=0))
    child.close()
    write_status(folder)


def answers(store: RunStore) -> dict[str, Any]:
    """All that a store can be asked."""
    return {
        "processes": store.processes(),
        "locations": store.locations(),
        "graphs": store.graphs(),
        "nodes": store.nodes(),
        "edges": store.edges(),
        "keys": store.keys(),
        "unseen": store.unseen(),
        "totals": dict(store.totals()),
        "zoomed": store.binned(20, 1.0, 2.0),
        "window": store.window(0.5, 1.5),
        "memory": store.memory_series(),
        "steps": store.step_series(25),
        "marks": store.events_of("mark"),
        "duration": store.duration_s,
        "query": store.query("SELECT kind, count(*), sum(count) FROM events GROUP BY kind ORDER BY kind"),
        "sites": store.query(
            "SELECT k.kind, l.site FROM keys k JOIN locations l ON k.loc = l.id ORDER BY k.id"
        ),
    }


def test_the_sealed_run_answers_as_the_live_one_did(tmp_path: Path) -> None:
    a_finished_run(tmp_path)
    store = open_run(tmp_path)
    before, overview = answers(store), store.binned(100)
    assert not store.sealed

    assert store.seal()

    assert store.sealed
    assert answers(store) == before
    assert answers(open_run(tmp_path)) == before
    sealed = open_run(tmp_path).binned(100)
    assert [row.lane for row in sealed.lanes] == [row.lane for row in overview.lanes]
    for row, known in zip(sealed.lanes, overview.lanes, strict=True):
        assert row.values == pytest.approx(known.values)
    assert sealed.phases == overview.phases


def test_tables_of_an_older_seal_answer_without_what_they_lack(tmp_path: Path) -> None:
    """GIVEN keys that were sealed before values were added up THEN all but those sums is as it was."""
    a_finished_run(tmp_path)
    store = open_run(tmp_path)
    before = answers(store)
    store.seal()
    keys = tmp_path / "tables" / "keys.parquet"
    pq.write_table(pq.read_table(keys).drop_columns(["value_sum"]), keys)
    manifest = tmp_path / "tables" / sealing.MANIFEST
    facts = json.loads(manifest.read_text())
    facts["files"]["keys.parquet"] = keys.stat().st_size
    manifest.write_text(json.dumps(facts))
    shutil.rmtree(tmp_path / "trace")

    again = open_run(tmp_path)

    assert again.sealed
    lacking = {key: dataclasses.replace(sums, value_sum=None) for key, sums in before["totals"].items()}
    assert before["totals"] != lacking
    assert answers(again) == before | {"totals": lacking}


def test_after_sealing_the_traces_are_not_needed(tmp_path: Path) -> None:
    a_finished_run(tmp_path)
    store = open_run(tmp_path)
    before = answers(store)
    store.seal()
    shutil.rmtree(tmp_path / "trace")
    moved = tmp_path.parent / "el'se where [x]*"
    shutil.copytree(tmp_path, moved)

    again = open_run(moved)

    assert again.sealed
    assert answers(again) == before


def test_a_run_that_goes_on_is_not_sealed(tmp_path: Path) -> None:
    trace = Trace(tmp_path, host=os.uname().nodename, pid=os.getpid())
    trace.key("op", 1, op="Add", device="cpu:0")
    write_status(tmp_path)
    store = open_run(tmp_path)
    assert not store.seal()
    assert not (tmp_path / "tables").exists()

    trace.close()
    store.refresh()

    assert store.seal()


def test_a_run_without_any_trace_is_not_sealed(tmp_path: Path) -> None:
    write_status(tmp_path)
    assert not open_run(tmp_path).seal()


def test_a_half_written_seal_is_ignored_and_redone(tmp_path: Path) -> None:
    a_finished_run(tmp_path)
    store = open_run(tmp_path)
    before = answers(store)
    store.seal()
    half = tmp_path / "tables" / "events.parquet"
    half.write_bytes(half.read_bytes()[:100])
    leftover = tmp_path / ".tables-0123456789ab"
    leftover.mkdir()
    (leftover / "events.parquet").write_bytes(b"half")

    again = open_run(tmp_path)

    assert not again.sealed
    assert answers(again) == before
    assert again.seal()
    assert answers(open_run(tmp_path)) == before
    assert not leftover.exists()


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"format": 99, "files": {}}', '{"format": 1, "files": 3}']
)
def test_a_damaged_manifest_is_no_seal(tmp_path: Path, content: str) -> None:
    a_finished_run(tmp_path)
    open_run(tmp_path).seal()
    (tmp_path / "tables" / sealing.MANIFEST).write_text(content)
    store = open_run(tmp_path)
    assert not store.sealed
    assert len(store.keys("call")) == 1


def test_a_damaged_table_of_the_right_size_is_no_seal(tmp_path: Path) -> None:
    a_finished_run(tmp_path)
    open_run(tmp_path).seal()
    table = tmp_path / "tables" / "keys.parquet"
    table.write_bytes(b"x" * table.stat().st_size)
    store = open_run(tmp_path)
    assert not store.sealed
    assert len(store.keys("call")) == 1


def test_a_folder_that_cannot_be_written_opens_unsealed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_finished_run(tmp_path)
    store = open_run(tmp_path)
    before = answers(store)

    def refuse(path: Path, *args: Any, **kwargs: Any) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "mkdir", refuse)
    assert not store.seal()
    monkeypatch.undo()

    assert answers(store) == before
    assert list(tmp_path.glob(".tables*")) == []


def test_a_disk_that_fills_up_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a_finished_run(tmp_path)
    store = open_run(tmp_path)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert not store.seal()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["spec.json", "status.json", "trace"]


def test_several_that_seal_at_once_all_succeed(tmp_path: Path) -> None:
    a_finished_run(tmp_path)
    stores = [open_run(tmp_path) for _ in range(4)]
    done: list[bool] = []
    threads = [threading.Thread(target=lambda store=store: done.append(store.seal())) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert done == [True] * 4
    first = answers(stores[0])
    assert all(answers(store) == first for store in stores)
    assert list(tmp_path.glob(".tables*")) == []


def test_an_event_takes_few_bytes(tmp_path: Path) -> None:
    trace = Trace(tmp_path)
    keys = [trace.key("op", 1, op=f"op{n}", device="cpu:1", loc=0) for n in range(100)]
    lines = [
        f'["e","op",{n * 7919 + n % 13},{1000 + n * 31 % 5000},{keys[n * 17 % 100]},1,{n // 300},null,77]\n'
        for n in range(100_000)
    ]
    trace.writer.append_bytes("".join(lines).encode())
    trace.close()
    write_status(tmp_path)
    store = open_run(tmp_path)
    assert store.seal()
    size = sum(path.stat().st_size for path in (tmp_path / "tables").iterdir())
    assert store.query("SELECT count(*) FROM events") == [(100_000,)]
    assert size / 100_000 <= 11


def test_viewers_ask_while_the_run_grows(tmp_path: Path) -> None:
    trace = Trace(tmp_path)
    key = trace.key("op", 0, op="Add", device="cpu:0", loc=0)
    store = open_run(tmp_path)
    failures: list[BaseException] = []
    stop = threading.Event()

    def look() -> None:
        try:
            while not stop.is_set():
                store.refresh()
                store.binned(10)
                store.window(0, 1)
                assert store.query("SELECT count(*) FROM events JOIN keys ON key = id")[0][0] <= 2000
        except BaseException as error:  # noqa: BLE001 - told by the test itself
            failures.append(error)

    viewers = [threading.Thread(target=look) for _ in range(3)]
    for viewer in viewers:
        viewer.start()
    for number in range(2000):
        trace.event("op", number, key)
        if number % 100 == 0:
            trace.key("op", 0, op=f"more{number}", device="cpu:1", loc=0)
    stop.set()
    for viewer in viewers:
        viewer.join()
    store.refresh()
    assert failures == []
    assert store.query("SELECT count(*) FROM events") == [(2000,)]


def test_a_run_whose_folder_is_not_named_in_utf8_is_read_without_being_sealed(tmp_path: Path) -> None:
    """The writers of Parquet take no path that is not UTF-8, at which the report failed."""
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe"))
    trace = Trace(folder)
    trace.key("op", 3, op="MatMul", device="cpu:1", requested="", loc=0)
    trace.close()
    write_status(folder)
    store = open_run(folder)
    assert not store.seal()
    (key,) = store.keys()
    assert key.count == 3


@pytest.mark.parametrize("name", ["nodes", "edges", "events", "events_long", "unseen", "overview"])
def test_a_table_that_the_manifest_does_not_list_is_never_opened(tmp_path: Path, name: str) -> None:
    """A FIFO in the place of an unlisted table held the report for ever."""
    a_finished_run(tmp_path)
    open_run(tmp_path).seal()
    manifest = tmp_path / "tables" / sealing.MANIFEST
    facts = json.loads(manifest.read_text())
    del facts["files"][f"{name}.parquet"]
    manifest.write_text(json.dumps(facts))
    table = tmp_path / "tables" / f"{name}.parquet"
    table.unlink()
    os.mkfifo(table)
    assert not open_run(tmp_path).sealed


@pytest.mark.parametrize("fields", ["[]", '{"bytes": "many"}'])
def test_keys_of_another_shape_are_no_seal(tmp_path: Path, fields: str) -> None:
    a_finished_run(tmp_path)
    open_run(tmp_path).seal()
    table = tmp_path / "tables" / "keys.parquet"
    kept = pq.read_table(table)
    odd = pa.array([fields] * kept.num_rows)
    pq.write_table(kept.set_column(kept.schema.get_field_index("fields"), "fields", odd), table)
    manifest = tmp_path / "tables" / sealing.MANIFEST
    facts = json.loads(manifest.read_text())
    facts["files"]["keys.parquet"] = table.stat().st_size
    manifest.write_text(json.dumps(facts))
    store = open_run(tmp_path)
    assert not store.sealed
    assert len(store.keys("call")) == 1


@pytest.mark.parametrize(("rows", "text"), [(sealed.MOST_ROWS + 1, "x"), (6_000, "x" * 100_000)])
def test_a_table_that_is_small_only_on_the_disk_is_no_seal(tmp_path: Path, rows: int, text: str) -> None:
    """Some kilobytes held one text millions of times, and reading them took gigabytes."""
    a_finished_run(tmp_path)
    open_run(tmp_path).seal()
    table = tmp_path / "tables" / "unseen.parquet"
    kept = pq.read_table(table)
    many = [
        pa.array([text] * rows) if field.type == pa.string() else pa.nulls(rows, field.type)
        for field in kept.schema
    ]
    pq.write_table(pa.Table.from_arrays(many, schema=kept.schema), table, compression="zstd")
    manifest = tmp_path / "tables" / sealing.MANIFEST
    facts = json.loads(manifest.read_text())
    facts["files"]["unseen.parquet"] = table.stat().st_size
    assert table.stat().st_size < 4 << 20
    manifest.write_text(json.dumps(facts))
    assert not open_run(tmp_path).sealed


def test_rows_of_a_graph_are_refused_rather_than_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit alone left out what came after it, without a word."""
    a_finished_run(tmp_path)
    open_run(tmp_path).seal()
    store = open_run(tmp_path)
    assert store.sealed
    monkeypatch.setattr(sealed, "MOST_ROWS", 1)
    with pytest.raises(HopscopeError, match=r"nodes\.parquet holds more than 1 rows of graph"):
        store.nodes()
