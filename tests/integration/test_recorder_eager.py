"""Eager ops, uploads, values taken, threads, Python functions in graphs, and what can't be seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.recording import SCRIPTS, Recorded, by, record


@pytest.fixture(scope="module")
def eager(tf_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOPSCOPE_HOME", str(tmp_path_factory.mktemp("home")))
        return record(tf_python, SCRIPTS / "eager.py")


FIELDS = ("src", "dst", "bytes", "count", "op")


def test_the_script_ran(eager: Recorded) -> None:
    assert eager.run.state == "finished", eager.log[-2000:]


def test_a_tensor_is_copied_to_a_device_once(eager: Recorded) -> None:
    assert eager.hops(*FIELDS, site="eager.py:14") == [("cpu:1", "cpu:0", 400, 1, "AddV2")]


def test_numpy_data_sent_to_a_device_is_an_upload_hop(eager: Recorded) -> None:
    assert eager.hops(*FIELDS, "cause", site="eager.py:16") == [
        ("cpu:0", "cpu:2", 80, 1, "Const", "host-upload")
    ]


def test_a_variable_that_an_op_takes_directly_is_no_upload(eager: Recorded) -> None:
    assert eager.hops(*FIELDS, "cause", site="eager.py:64", bytes=64) == [
        ("cpu:0", "cpu:1", 64, 1, "MatMul", "host-upload")  # numpy's turn
    ]


@pytest.mark.parametrize(("line", "op"), [(65, "ConcatV2"), (66, "MatMul")])
def test_a_variable_that_lives_elsewhere_is_read_from_its_home(eager: Recorded, line: int, op: str) -> None:
    hops = eager.hops(*FIELDS, "producer", "cause", site=f"eager.py:{line}", bytes=64)
    assert hops == [("cpu:2", "cpu:1", 64, 1, op, "far", "variable-home")]


def test_a_variable_read_by_eager_ops_is_told_once_with_the_line_that_created_it(eager: Recorded) -> None:
    (found,) = by(eager.report["findings"], code="variable-home", site="eager.py:65")
    assert (found["evidence"]["created_at"], found["evidence"]["also_at"]) == ("eager.py:61", ["eager.py:66"])


def test_a_copy_that_is_a_tensors_method_is_a_hop(eager: Recorded) -> None:
    hops = eager.hops(*FIELDS, "producer", "cause", site="eager.py:67")
    assert hops == [("cpu:1", "cpu:0", 32, 1, "Copy", "Fill", "explicit")]


def test_a_hop_between_scopes_names_both_lines(eager: Recorded) -> None:
    hops = eager.hops("src", "dst", "bytes", "producer_site", "cause", site="eager.py:18", src="cpu:2")
    assert hops == [("cpu:2", "cpu:1", 80, "eager.py:16", "explicit")]


@pytest.mark.parametrize(
    ("line", "kind", "device"),
    [
        (19, "float", "cpu:0"),  # of the host, which adds up what cpu:1 made and waits for that
        (20, "bool", "cpu:0"),  # of the copy that line 19 left there
        (21, "numpy", "cpu:2"),
        (22, "array", "cpu:1"),
        (23, "array", "cpu:1"),
        (24, "print", "cpu:2"),
    ],
)
def test_every_way_to_take_a_value_is_a_sync(eager: Recorded, line: int, kind: str, device: str) -> None:
    syncs = by(eager.report["syncs"], site=f"eager.py:{line}")
    assert [(s["kind"], s["device"]) for s in syncs][-1] == (kind, device)
    assert all(s["wait_ns"] > 0 and s["basis"] == "measured" for s in syncs)


def test_what_tensorflows_own_gradients_take_is_not_the_codes_doing(eager: Recorded) -> None:
    assert {s["kind"] for s in by(eager.report["syncs"], site="eager.py:109")} == {
        "TensorFlow's own gradients"
    }
    waits = by(eager.report["findings"], code="host-sync", site="eager.py:109")
    assert [finding["severity"] for finding in waits] in ([], ["info"])


def test_a_pull_from_another_device_is_a_hop_to_the_host(eager: Recorded) -> None:
    assert eager.hops("src", "dst", "bytes", "cause", site="eager.py:21") == [
        ("cpu:2", "cpu:0", 80, "host-sync")
    ]


def test_threads_are_recorded_and_share_a_tensors_copy(eager: Recorded) -> None:
    assert eager.hops(*FIELDS, site="eager.py:29") == [("cpu:1", "cpu:2", 400, 1, "Square")]


def test_a_python_function_inside_a_graph_is_recorded(eager: Recorded) -> None:
    assert ("cpu:0", "cpu:1", 24) in eager.hops("src", "dst", "bytes", site="eager.py:42")


def test_a_compiled_function_is_told_as_unseen(eager: Recorded) -> None:
    (row,) = [u for u in eager.report["unseen"] if u["what"] == "ops inside compiled"]
    assert "jit_compile" in row["why"]
    assert row["count"] > 0


def test_stand_ins_are_labelled(eager: Recorded) -> None:
    assert eager.report["device_map"]["cpu:1"]["stand_in"] is True
    assert eager.report["device_map"]["cpu:0"]["stand_in"] is False


def test_values_that_a_python_function_takes_come_from_its_ops_device(eager: Recorded) -> None:
    """The runtime hands CPU devices' tensors over as the first one's; on a GPU they say where they are."""
    syncs = by(eager.report["syncs"], site="eager.py:71")
    assert [(sync["kind"], sync["device"], sync["count"]) for sync in syncs] == [("numpy", "cpu:1", 6)]
    # Asked for by the scope of the call alone, so that the first call tells it only when it is over.
    assert eager.hops("src", "dst", "count", site="eager.py:114") == [("cpu:1", "cpu:0", 3)]
    called = by(eager.report["syncs"], site="eager.py:114")
    assert [(sync["kind"], sync["device"], sync["count"]) for sync in called] == [("numpy", "cpu:1", 3)]


def test_no_placed_graph_is_left_unread(eager: Recorded) -> None:
    """A graph that could not be read is told so, and does no harm to the program."""
    assert not [row for row in eager.report["unseen"] if "can't be read" in row["why"]]


@pytest.mark.parametrize(
    ("line", "op", "way"),
    [
        (91, "AssignAddVariableOp", ("cpu:2", "cpu:1")),
        (92, "AssignSubVariableOp", ("cpu:0", "cpu:1")),
        (93, "AssignVariableOp", ("cpu:0", "cpu:1")),
    ],
)
def test_an_op_on_a_variable_runs_where_that_lives(
    eager: Recorded, line: int, op: str, way: tuple[str, str]
) -> None:
    hops = eager.hops("src", "dst", "cause", site=f"eager.py:{line}", op=op)
    assert hops == [(*way, "colocation")]
    (finding,) = [
        found
        for found in eager.report["findings"]
        if found["code"] == "colocation" and found["site"] == f"eager.py:{line}"
    ]
    assert (finding["severity"], finding["evidence"]["colocated_with"]) == ("info", "near")
    assert finding["evidence"]["lives_on"] == "cpu:1"


def test_what_goes_into_a_table_and_comes_out_is_where_that_lives(eager: Recorded) -> None:
    went = ("cpu:2", "cpu:1", "LookupTableFindV2", "colocation")
    assert eager.hops("src", "dst", "op", "cause", site="eager.py:89", src="cpu:2") == [went]
    came = eager.hops("src", "dst", "producer", "cause", site="eager.py:90")
    assert came == [("cpu:1", "cpu:2", "LookupTableFindV2", "colocation")]


def test_a_functions_result_crosses_from_where_it_lies(eager: Recorded) -> None:
    """Bug: called in no scope it is said to be of the host; a comparison there told of no transfer."""
    way = ("src", "dst", "bytes", "count", "cause")
    assert eager.hops(*way, site="eager.py:103", op="Less") == [("cpu:1", "cpu:0", 4, 8, "host-sync")]
