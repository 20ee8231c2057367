"""A trace is read to its last whole line, and what can't be read is told, never raised."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.facts.tables import tables_of
from app.store.run import RunStore, open_run
from runners.errors import HopscopeError
from tests.unit.traces import Trace, hop_fields, write_status


def unseen(store: RunStore) -> dict[str, tuple[int, str]]:
    return {row.what: (row.count, row.why) for row in store.unseen()}


def a_run(folder: Path) -> Trace:
    """One eager op key with three executions, one of them as an event."""
    trace = Trace(folder)
    loc = trace.location("train.py:7")
    key = trace.key("op", 3, op="MatMul", device="cpu:1", requested="cpu:1", loc=loc)
    trace.event("op", 100, key, dur=50)
    return trace


def test_a_missing_folder_is_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(HopscopeError, match="There is no run folder"):
        open_run(tmp_path / "gone")


def test_a_sealed_folder_whose_name_is_no_text_is_refused_in_one_line(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    a_run(folder).close()
    write_status(folder)
    assert open_run(folder).seal()
    renamed = folder.rename(tmp_path / "run\udcff")
    with pytest.raises(HopscopeError, match=r"run\\xff is not UTF-8; rename it to open it"):
        open_run(renamed)


def test_a_folder_without_a_trace_is_an_empty_run(tmp_path: Path) -> None:
    store = open_run(tmp_path)
    assert store.processes() == []
    assert store.keys() == []
    assert store.unseen() == []
    assert store.binned(10).lanes == ()
    assert store.window(0, 1).bars == ()
    assert store.memory_series() == []
    assert store.step_series() is None


def test_records_come_back_as_rows(tmp_path: Path) -> None:
    trace = a_run(tmp_path)
    graph = trace.graph("train_step", step_marks=1)
    trace.node(graph, 1, "dense/MatMul", "MatMul", "cpu:1", "cpu:1", loc=1)
    trace.node(graph, 2, "dense/Relu", "Relu", "cpu:2")
    trace.edge(graph, 1, 2, 65536, "64x256")
    trace.facts(
        devices=["cpu:0", "cpu:1"], device_map={"cpu:1": {"stand_in": True}}, framework_version="2.21"
    )

    store = open_run(tmp_path)

    (process,) = store.processes()
    assert (process.framework, process.framework_version, process.devices) == (
        "tensorflow",
        "2.21",
        ["cpu:0", "cpu:1"],
    )
    assert process.device_map == {"cpu:1": {"stand_in": True}}
    location = store.locations()[1]
    assert (location.site, location.via, location.line, location.function) == ("train.py:7", None, 7, "main")
    (key,) = store.keys()
    assert (key.kind, key.count, key.fields["device"]) == ("op", 3, "cpu:1")
    assert [(node.name, node.op, node.requested, node.assigned) for node in store.nodes()] == [
        ("dense/MatMul", "MatMul", "cpu:1", "cpu:1"),
        ("dense/Relu", "Relu", "", "cpu:2"),
    ]
    (edge,) = store.edges(graph)
    assert (edge.src_node, edge.dst_node, edge.bytes, edge.shape) == (1, 2, 65536, "64x256")
    assert [(row.name, row.step_marks, row.calls) for row in store.graphs()] == [("train_step", 1, 0)]
    assert store.query("SELECT kind, ts_ns, dur_ns, key, count FROM events") == [("op", 100, 50, 1, 1)]
    assert unseen(store) == {}


def test_a_growing_trace_is_followed(tmp_path: Path) -> None:
    trace = a_run(tmp_path)
    store = open_run(tmp_path)
    generation = store.generation
    assert not store.refresh()
    assert store.generation == generation

    trace.event("op", 300, 1)
    trace.writer.counts[1] = 9

    assert store.refresh()
    assert store.generation > generation
    assert store.keys()[0].count == 9
    assert store.query("SELECT count(*) FROM events") == [(2,)]
    assert not store.refresh()


def test_counts_alone_are_news(tmp_path: Path) -> None:
    trace = a_run(tmp_path)
    store = open_run(tmp_path)
    trace.writer.counts[1] = 4000
    assert store.refresh()
    assert store.keys()[0].count == 4000


def test_a_line_without_its_end_waits_for_it(tmp_path: Path) -> None:
    trace = a_run(tmp_path)
    line = b'["e","op",500,1,1,1,null,null,77]\n'
    store = open_run(tmp_path)

    trace.writer.append_bytes(line[:20])
    assert not store.refresh()
    trace.writer.append_bytes(line[20:])

    assert store.refresh()
    assert store.query("SELECT ts_ns FROM events ORDER BY ts_ns") == [(100,), (500,)]
    assert unseen(store) == {}


def test_a_torn_last_line_of_an_ended_run_is_told(tmp_path: Path) -> None:
    trace = a_run(tmp_path)
    trace.writer.append_bytes(b'["e","op",500,1,1')
    write_status(tmp_path)

    store = open_run(tmp_path)

    assert store.query("SELECT count(*) FROM events") == [(1,)]
    assert unseen(store) == {"a record cut short": (1, "the process was ended while writing it")}


def test_reading_stops_at_the_first_nul(tmp_path: Path) -> None:
    trace = a_run(tmp_path)
    trace.writer.append_bytes(b"\0\0\0\0\n" + b'["e","op",500,1,1,1,null,null,77]\n')
    store = open_run(tmp_path)
    assert store.query("SELECT count(*) FROM events") == [(1,)]
    assert not store.refresh()


@pytest.mark.parametrize(
    "garbage",
    [
        b"\xff\xfe\x00garbage".replace(b"\x00", b"x"),
        b"not json at all",
        b'{"an": "object"}',
        b"[]",
        b"[1,2,3]",
        b'["S",0,"no id"]',
        b'["S",5]',
        b'["K",9,"hop",{"bytes":"many"}]',
        b'["K",9,"hop",{"consumers":[1]}]',
        b'["K",9,"node",{"graph":1}]',
        b'["N",1,"x",1,1,1,1,0,0]',
        b'["e","op",1,2]',
        b'["e","op","soon",1,1,1,null,null,77]',
        b'["e","op",1,1,1.5,1,null,null,77]',
        b'["e","op",99999999999999999999999,1,1,1,null,null,77]',
        b"[" * 100_000,
    ],
)
def test_a_line_that_cannot_be_read_is_counted(tmp_path: Path, garbage: bytes) -> None:
    trace = a_run(tmp_path)
    trace.writer.append_bytes(garbage + b"\n")
    trace.event("op", 700, 1)

    store = open_run(tmp_path)

    assert unseen(store) == {"trace lines": (1, "not readable as a record")}
    assert store.query("SELECT ts_ns FROM events ORDER BY ts_ns") == [(100,), (700,)]


def test_what_a_newer_recorder_adds_is_counted(tmp_path: Path) -> None:
    trace = a_run(tmp_path)
    trace.writer.append(["Q", 1, 2])
    trace.writer.append(["S", 99, "text", "more", "and more"])
    trace.writer.append(["e", "op", 700, 0, 1, 1, None, None, 77, "new"])
    trace.writer.append(["e", "telepathy", 800, 0, 1, 1, None, None, 77])
    trace.key("telepathy", device="cpu:1")

    store = open_run(tmp_path)

    newer = "written by a newer recorder"
    assert unseen(store) == {
        "trace records of kind 'Q'": (1, newer),
        "fields of S records": (2, newer),
        "fields of e records": (1, newer),
        "events of kind 'telepathy'": (1, newer),
        "keys of kind 'telepathy'": (1, newer),
    }
    assert store.query("SELECT ts_ns FROM events ORDER BY ts_ns") == [(100,), (700,)]


def test_another_version_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "trace"
    folder.mkdir()
    (folder / "a.jsonl").write_text('["H",7,{"format":"hopscope-trace","mono_ns":1,"wall_ns":1}]\n')
    assert unseen(open_run(tmp_path))["trace version '7'"] == (1, "this Hopscope reads version 1")


def test_events_of_a_key_that_was_lost_are_counted(tmp_path: Path) -> None:
    trace = a_run(tmp_path)
    trace.event("op", 300, 55)
    trace.event("op", 400, 55)
    store = open_run(tmp_path)
    assert unseen(store)["events of an unknown key"] == (2, "its definition could not be read")

    trace.writer.append(["K", 55, "op", {"op": "Relu", "device": "cpu:2"}])
    store.refresh()

    assert unseen(store) == {}


def test_what_the_recorder_could_not_see_adds_up(tmp_path: Path) -> None:
    trace = a_run(tmp_path)
    trace.unseen("ops inside step", 3, "compiled by XLA")
    trace.unseen("ops inside step", 4, "compiled by XLA")
    assert unseen(open_run(tmp_path)) == {"ops inside step": (7, "compiled by XLA")}


def test_without_the_counts_file_events_are_counted(tmp_path: Path) -> None:
    trace = a_run(tmp_path)
    trace.event("op", 300, 1, count=41)
    (tmp_path / "trace" / "main.counts").unlink()
    store = open_run(tmp_path)
    assert store.keys()[0].count == 42
    assert unseen(store) == {"counts main.counts": (1, "missing: counts are taken from events")}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_trace_that_may_not_be_read_is_told(tmp_path: Path) -> None:
    trace = a_run(tmp_path)
    trace.path.chmod(0)
    assert "cannot be read" in unseen(open_run(tmp_path))["trace main.jsonl"][1]


def test_processes_have_ids_and_times_of_their_own(tmp_path: Path) -> None:
    first = a_run(tmp_path)
    second = Trace(tmp_path, "child", mono_ns=1000 + 5000)
    loc = second.location("child.py:3")
    graph = second.graph("step")
    second.node(graph, 1, "a", "Relu", "gpu:0", loc=loc)
    op = second.key("op", 2, op="Relu", device="gpu:0", loc=loc)
    call = second.key("call", 6, graph=graph, function="step", loc=loc)
    second.key("hop", **hop_fields("cpu:0", "gpu:0", graph=graph, per_call=2, loc=loc))
    second.event("op", 10, op)
    assert (op, call) == (1, 2)

    store = open_run(tmp_path)

    base = 1 << 32
    assert [process.name for process in store.processes()] == ["main", "child"]
    keys = store.keys()
    assert [(key.id, key.count) for key in keys] == [
        (1, 3),
        (base + 1, 2),
        (base + 2, 6),
        (base + 3, 12),
    ]
    assert store.keys("op")[1].fields["loc"] == base + loc
    assert store.locations()[base + loc].site == "child.py:3"
    assert [row.graph for row in store.nodes()] == [base + graph]
    assert store.graphs()[0].id == base + graph
    assert store.graphs()[0].calls == 6
    # The second process began 5,000 ns after the first.
    assert store.query("SELECT process, ts_ns, key FROM events ORDER BY ts_ns") == [
        (0, 100, 1),
        (1, 5010, base + 1),
    ]
    del first


def test_a_role_stands_before_the_devices_names(tmp_path: Path) -> None:
    trace = Trace(tmp_path)
    trace.facts(role="worker", rank=1, devices=["cpu:0", "gpu:0", "ps:0/cpu:0"], device_map={"gpu:0": {}})
    graph = trace.graph()
    trace.node(graph, 1, "a", "Relu", "gpu:0")
    trace.key("hop", 1, **hop_fields("ps:0/cpu:0", "gpu:0", requested="gpu:0"))

    store = open_run(tmp_path)

    (process,) = store.processes()
    assert process.devices == ["worker:1/cpu:0", "worker:1/gpu:0", "ps:0/cpu:0"]
    assert process.device_map == {"worker:1/gpu:0": {}}
    fields = store.keys()[0].fields
    assert (fields["src"], fields["dst"], fields["requested"]) == (
        "ps:0/cpu:0",
        "worker:1/gpu:0",
        "worker:1/gpu:0",
    )
    assert store.nodes()[0].assigned == "worker:1/gpu:0"


def test_a_process_that_starts_later_is_found(tmp_path: Path) -> None:
    a_run(tmp_path)
    store = open_run(tmp_path)
    assert len(store.processes()) == 1
    Trace(tmp_path, "late", mono_ns=9000)
    assert store.refresh()
    assert [process.name for process in store.processes()] == ["main", "late"]


def test_a_graphs_hops_follow_from_its_calls(tmp_path: Path) -> None:
    trace = Trace(tmp_path)
    graph = trace.graph()
    trace.key("call", 30, graph=graph, function="step", loc=0)
    trace.key("call", 12, graph=graph, function="step", loc=0)
    fixed = trace.key("hop", **hop_fields("cpu:0", "cpu:1", graph=graph, per_call=2))
    watched = trace.key("hop", 17, **hop_fields("cpu:0", "cpu:1", graph=graph, **{"in": "loop"}))
    never = trace.key("hop", 0, **hop_fields("cpu:0", "cpu:1", graph=graph, **{"in": "branch"}))
    idle = trace.key("hop", 0, **hop_fields("cpu:0", "cpu:1", graph=graph, **{"in": "branch"}))
    partly = trace.key("hop", 5, **hop_fields("cpu:0", "cpu:1", graph=graph, **{"in": "loop"}))
    trace.event("hop", 10, watched, count=17)
    trace.event("hop", 20, idle, count=0)
    trace.event("hop", 30, partly, count=5, value=1)

    counts = {key.id: key.count for key in open_run(tmp_path).keys("hop")}

    assert counts == {fixed: 84, watched: 17, never: None, idle: 0, partly: None}


def test_mixed_inputs_drift_and_seen_copies_are_read(tmp_path: Path) -> None:
    """GIVEN keys of the newer kinds, in a process with a role THEN their devices are the run's."""
    trace = Trace(tmp_path, role="worker", rank=1, default_device="cpu:0")
    loc = trace.location("train.py:7")
    mixed = trace.key(
        "mixed", 40, op="dot", device="cpu:1", reads=["cpu:2"], bytes=8, loc=loc, outcome="read"
    )
    drift = trace.key(
        "drift", 2, what="differing", devices=["cpu:1", "cpu:2"], parameters=4, parameter=None, loc=loc
    )
    copies = trace.key("copies", 6, device="cpu:2", op="CopyCPU2CPU", within="backward", loc=loc)
    facts: dict[str, object] = {"collective": "kvstore local", "summed_on": "cpu:0"}
    facts["forward_requested"] = "cpu:1"
    facts |= {"exchange_devices": ["cpu:1", "server:0/cpu:0"]}
    hop = trace.key("hop", 1, **hop_fields("cpu:1", "cpu:0", loc=loc, facts=facts))
    trace.event("mixed", 5, mixed)
    trace.event("drift", 20, drift, step=9, value=3)
    trace.event("drift", 10, drift, step=0, value=0)
    trace.event("copies", 30, copies)

    store = open_run(tmp_path)

    found = store.keys()
    keys = {key.id: key for key in found}
    assert [(key.kind, key.count) for key in found] == [
        ("mixed", 40),
        ("drift", 2),
        ("copies", 6),
        ("hop", 1),
    ]
    assert (keys[mixed].fields["device"], keys[mixed].fields["reads"]) == (
        "worker:1/cpu:1",
        ["worker:1/cpu:2"],
    )
    assert keys[drift].fields["devices"] == ["worker:1/cpu:1", "worker:1/cpu:2"]
    assert keys[hop].fields["facts"] == {
        "collective": "kvstore local",
        "summed_on": "worker:1/cpu:0",
        "forward_requested": "worker:1/cpu:1",
        "exchange_devices": ["worker:1/cpu:1", "server:0/cpu:0"],
    }
    assert [(event.ts_ns, event.step, event.value) for event in store.events_of("drift")] == [
        (10, 0, 0),
        (20, 9, 3),
    ]
    assert tables_of(store).default_devices == {"worker:1": "worker:1/cpu:0"}
    assert unseen(store) == {}
    # None of them is a row of the timeline.
    assert [lane.kind for lane in store.window(0, 1).lanes] == []


@pytest.mark.parametrize(
    "fields",
    ['{"reads": "cpu:1"}', '{"reads": [3]}', '{"outcome": 3}', '{"parameters": "4"}', '{"exchange": 1}'],
)
def test_a_key_whose_fields_are_of_another_type_is_counted(tmp_path: Path, fields: str) -> None:
    trace = a_run(tmp_path)
    trace.writer.append_bytes(f'["K",9,"mixed",{fields}]\n'.encode())
    store = open_run(tmp_path)
    assert len(store.keys()) == 1
    assert unseen(store) == {"trace lines": (1, "not readable as a record")}


def test_values_add_up_over_a_keys_events(tmp_path: Path) -> None:
    trace = Trace(tmp_path)
    key = trace.key("sync", 9, device="cpu:1", kind="asnumpy", split=True, loc=0, bytes=4)
    plain = trace.key("sync", 1, device="cpu:1", kind="float", loc=0, bytes=4)
    trace.event("sync", 10, key, dur=100, value=40)
    trace.event("sync", 500, plain, dur=7)
    store = open_run(tmp_path)
    assert store.totals()[key].value_sum == 40
    trace.event("sync", 300, key, dur=50, value=2)
    trace.event("sync", 900, key, count=7)
    store.refresh()
    sums = store.totals()[key]
    assert (sums.value_sum, sums.max_value, sums.dur_ns, sums.timed, sums.executions) == (42, 40, 150, 2, 9)
    assert store.totals()[plain].value_sum is None


@pytest.mark.parametrize(
    "event",
    [
        b'["e","op",9223372036854775807,50,1,1,null,null,77]',
        b'["e","op",100,9223372036854775807,1,1,null,null,77]',
        b'["e","op",100,50,1,9223372036854775807,null,null,77]',
        b'["e","op",100,50,1,1,-9223372036854775808,null,77]',
        b'["e","op",100,50,1,1,null,9223372036854775807,77]',
    ],
)
def test_an_event_whose_numbers_nothing_reaches_is_counted_as_unreadable(
    tmp_path: Path, event: bytes
) -> None:
    """Their sums and ends would not fit into 64 bits, at which the timeline failed."""
    trace = a_run(tmp_path)
    trace.writer.append_bytes((event + b"\n") * 3)
    store = open_run(tmp_path)
    assert store.query("SELECT count(*) FROM events") == [(1,)]
    assert unseen(store)["trace lines"] == (3, "not readable as a record")
    assert store.binned(10).lanes
