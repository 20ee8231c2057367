"""What is foreseen of notes about ops: where they would run, what would cross, why, and how sure that is."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from app.cli import dispatch
from app.diagnosis.verification import line_map
from app.facts.kernels.kernel_table import shipped_table
from app.facts.tables import Tables
from app.preflight.comparison import compare
from app.preflight.dialects.mxnet.prediction import RULE, foresee_mxnet
from app.preflight.dialects.tensorflow.inlined_functions import Expanded
from app.preflight.dialects.tensorflow.placer import Machine
from app.preflight.dialects.tensorflow.prediction import foresee
from app.preflight.merged_processes import Foreseen
from app.preflight.provenance import command_again, machine_told, stand_ins_told
from app.reports.prediction_report import preflight_report, render_preflight
from app.store.dataflow import parse_flow
from app.store.totals import KeyTotals
from probes.trace.preflight_notes import PYTHON, Tensor
from probes.trace.rows import Key, Location, Process
from runners.errors import HopscopeError
from runners.plan.plan import LaunchOptions
from runners.plan.preflight_plan import Extent, plan_preflight
from runners.plan.trials import plan_trial
from runners.runs import ownership
from runners.runs.run import read_run

FLOAT = ["float32", [64, 16]]
MATMUL = {"T": "float32"}
STEPS = 3


def record(op: str, line: int, inputs: list[Any] | None = None, **more: Any) -> dict[str, Any]:
    """An op at a line; inputs as (maker, tensor) in the order of the slots."""
    edges = [[slot, maker, 0, tensor, [], STEPS, 0] for slot, (maker, tensor) in enumerate(inputs or [])]
    made = {"op": op, "types": MATMUL, "requested": "", "loc": line, "forward": [None, ""], "inputs": edges}
    return {**made, "outputs": [FLOAT], "count": STEPS, "early": 0, "function": "", **more}


def node(name: str, op: str, inputs: list[list[int]] | None = None, **more: Any) -> dict[str, Any]:
    made = {"name": name, "op": op, "requested": "", "loc": 50, "forward": [None, ""], "types": MATMUL}
    return {**made, "inputs": inputs or [], "outputs": [FLOAT], "calls": {}, "beside": [], **more}


def function(nodes: list[Any], arguments: int, results: list[list[int]], **more: Any) -> dict[str, Any]:
    made = {"label": "step", "compiled": False, "nodes": nodes, "arguments": list(range(arguments))}
    return {**made, "results": results, "shapes": {}, **more}


def notes(records: list[Any], **more: Any) -> dict[str, Any]:
    made = {"version": 1, "pid": 1, "framework": "tensorflow", "kernels": "a test", "has_gpu_kernels": False}
    sites = {str(line): [f"train.py:{line}", None] for line in range(1, 100)}
    return {**made, "steps": STEPS, "sites": sites, "records": records, "functions": {}, "pulls": [],
            "notes": [], "left_out": 0, **more}  # fmt: skip


def seen(records: list[Any], gpus: int = 0, version: str = "2.21.0", **more: Any) -> Foreseen:
    return foresee(parse_flow(notes(records, **more)), shipped_table(), gpus, version)


def ways(foreseen: Foreseen) -> list[tuple[Any, ...]]:
    return [(hop.cause.code, hop.src, hop.dst, hop.bytes, hop.count) for hop in foreseen.hops]


def codes(foreseen: Foreseen) -> list[tuple[str, str, str | None]]:
    return [(row["severity"], row["code"], row["site"]) for row in foreseen.report["findings"]]


def made_on_the_default(line: int = 1) -> dict[str, Any]:
    return record("RandomStandardNormal", line, types={"dtype": "float32", "T": "int32"})


def test_what_nobody_placed_runs_on_the_first_gpu_and_nothing_crosses() -> None:
    foreseen = seen([made_on_the_default(), record("MatMul", 2, [(0, FLOAT), (0, FLOAT)])])
    assert ways(foreseen) == []
    assert foreseen.report["findings"] == []
    assert [dict(row) for row in foreseen.report["placement"]] == [
        {"device": "gpu:0", "ops": 2, "nobody_asked": 2}
    ]


def test_an_op_without_a_gpu_kernel_falls_to_the_host_and_its_tensors_cross() -> None:
    records = [
        made_on_the_default(),
        record("RandomShuffle", 2, [(0, FLOAT)], requested="gpu:0"),
        record("Mul", 2, [(1, FLOAT), (1, FLOAT)], requested="gpu:0"),
    ]
    foreseen = seen(records)
    assert ways(foreseen)[:2] == [
        ("no-kernel", "gpu:0", "cpu:0", 4096, STEPS),
        ("no-kernel", "cpu:0", "gpu:0", 4096, STEPS),
    ]
    assert set(codes(foreseen)) == {("warning", "no-kernel", "train.py:2")}
    assert [row["site"] for row in foreseen.report["no_kernel"]] == ["train.py:2"]
    # What takes its result is named where it is used, not as lacking a kernel too.
    assert all("Mul" not in row["summary"].partition(" at ")[0] for row in foreseen.report["findings"])
    evidence = foreseen.report["findings"][0]["evidence"]
    assert evidence["kernels_of"].startswith("the kernel table of TensorFlow 2.21")


def test_what_some_steps_do_has_a_mean_and_what_was_over_with_the_first_has_none() -> None:
    def copied(line: int, count: int, early: int) -> dict[str, Any]:
        taken = [[0, 0, 0, FLOAT, [], count, early]]
        made = record("Mul", line, requested="cpu:0", count=count, early=early)
        return made | {"inputs": taken}

    records = [made_on_the_default(), copied(2, 4, 1), copied(3, 2, 1), copied(4, 2, 2)]
    hops = {row["site"]: row for row in seen(records).report["hops"]}
    assert [hops[f"train.py:{line}"]["each"] for line in (2, 3, 4)] == [1, 0, 0]
    assert [hops[f"train.py:{line}"].get("mean") for line in (2, 3, 4)] == [None, 1 / STEPS, 0]


def test_a_type_without_a_kernel_is_named() -> None:
    whole = ["int32", [64, 64]]
    taken = [(0, whole), (0, whole)]
    records = [
        record("Fill", 1, outputs=[whole], types={"T": "int32"}),
        record("MatMul", 2, taken, types={"T": "int32"}, outputs=[whole]),
    ]
    [row] = seen(records).report["no_kernel"]
    assert "none for int32" in row["kernel"]
    assert (row["runs_on"], row["confidence"]) == ("cpu:0", "high")


def integer_product(extents: int = 64, scope: str = "gpu:0", **more: Any) -> dict[str, Any]:
    """A function that is called in a scope and multiplies its int32 argument with itself."""
    whole = ["int32", [extents, extents]]
    nodes = [
        node("x", "Placeholder", outputs=[whole]),
        node("product", "MatMul", [[0, 0], [0, 0]], types={"T": "int32"}, outputs=[whole], loc=4, **more),
    ]
    call = record("Call", 9, [(PYTHON, whole)], function="f", requested=scope, outputs=[whole])
    return {"records": [call], "functions": {"f": function(nodes, 1, [[1, 0]])}}


INTEGER_STEP = """import tensorflow as tf
@tf.function
def step(x):
    product = tf.matmul(x, x)
    return tf.cast(tf.reduce_sum(product), tf.float32)
"""


def test_what_falls_to_the_host_with_all_its_tensors_is_a_warning_with_its_line_and_a_fix() -> None:
    flow = parse_flow(notes(**integer_product()))
    texts = {"train.py": INTEGER_STEP}
    [row] = foresee(flow, shipped_table(), 0, "2.21.0", texts.get).report["findings"]
    assert (row["severity"], row["code"], row["site"]) == ("warning", "no-kernel", "train.py:4")
    assert row["summary"] == (
        "MatMul at train.py:4 finds no GPU kernel (MatMul has GPU kernels for bfloat16, complex128,"
        " complex64, float16, float32, float64, none for int32) and runs on the host each step, though the"
        " code asks for gpu:0; the largest tensor of it has 16 KiB."
    )
    rule = "an op without a GPU kernel for its types runs on the host (soft placement)"
    assert (row["rules"], row["confidence"]) == ([rule], "high")
    assert row["repair"] is None
    assert row["source"]["line"] == 4
    [unread] = foresee(flow, shipped_table(), 0, "2.21.0").report["findings"]
    assert unread["fix"].startswith("Compute it in float32, which GPUs have a kernel for")


@pytest.mark.parametrize(
    "wanted",
    [
        pytest.param(integer_product(8), id="a few bytes"),
        pytest.param(integer_product() | {"steps": 1}, id="once"),
    ],
)
def test_what_is_small_or_happens_once_stays_a_row(wanted: dict[str, Any]) -> None:
    records = wanted.pop("records")
    foreseen = seen(records, **wanted)
    assert foreseen.report["findings"] == []
    assert [row["site"] for row in foreseen.report["no_kernel"]] == ["train.py:4"]


def test_nobody_meant_another_op_than_a_product_for_a_gpu_who_asks_for_none() -> None:
    def shuffled(scope: str) -> list[tuple[str, str, str | None]]:
        made = integer_product(scope=scope)
        made["functions"]["f"]["nodes"][1] |= {"op": "RandomShuffle", "inputs": [[0, 0]]}
        return codes(seen(made.pop("records"), **made))

    assert shuffled("gpu:0") == [("warning", "no-kernel", "train.py:4")]
    assert shuffled("") == []
    made = integer_product(scope="")
    assert codes(seen(made.pop("records"), **made)) == [("warning", "no-kernel", "train.py:4")]


def test_an_int32_tensor_made_by_a_gpu_kernel_lies_on_the_host() -> None:
    whole = ["int32", [64]]
    records = [
        record("Range", 1, types={"Tidx": "int32"}, outputs=[whole]),
        record("GatherV2", 2, [(0, FLOAT), (0, whole), (PYTHON, ["int32", []])],
               types={"Tparams": "float32", "Tindices": "int32", "Taxis": "int32"}),
    ]  # fmt: skip
    records[1]["inputs"] = records[1]["inputs"][1:]
    foreseen = seen(records)
    assert ways(foreseen) == [("host-memory", "gpu:0", "gpu:0", 256, STEPS)]
    assert codes(foreseen) == [("info", "host-memory", "train.py:2")]
    # It is the kernel that made it which keeps it there, not the one that takes it.
    [row] = foreseen.report["findings"]
    assert row["summary"] == (
        "GatherV2 at train.py:2 takes on gpu:0 what the kernel of Range leaves in the host's memory: 256 B"
        " each step."
    )
    assert row["because"] == "The kernel on gpu:0 keeps this result of type int32 in host memory."


def test_an_int32_argument_is_handed_over_on_the_host_whatever_made_it() -> None:
    ids = ["int32", [64]]
    gathered = node("rows", "GatherV2", [[0, 0], [1, 0]], types={"Tparams": "float32", "Tindices": "int32"})
    arguments = [node("table", "Placeholder"), node("ids", "Placeholder", outputs=[ids])]
    records = [
        record("RandomStandardNormal", 1, types={"T": "int32", "dtype": "float32"}),
        record("RandomUniformInt", 2, types={"T": "int32", "Tout": "int32"}, outputs=[ids]),
        record("Call", 3, [(0, FLOAT), (1, ids)], function="f"),
    ]
    foreseen = seen(records, functions={"f": function([*arguments, gathered], 2, [[2, 0]])})
    [row] = foreseen.report["findings"]
    assert (row["severity"], row["code"]) == ("info", "host-memory")
    assert row["summary"].startswith("An argument of type int32, made by RandomUniformInt, is handed over in")
    assert (
        row["rules"][-1] == "a function takes tensors of type int32 in host memory, wherever they were made"
    )
    assert "This one lay on gpu:0. What a GPU made is copied to the host" in row["because"]


def test_python_data_goes_up_but_int32_stays_on_the_host() -> None:
    records = [
        record("_EagerConst", 1, types={"dtype": "float32"}),
        record("_EagerConst", 2, types={"dtype": "int32"}, outputs=[["int32", [64]]]),
    ]
    assert [(hop.cause.code, hop.site) for hop in seen(records).hops] == [("host-upload", "train.py:1")]


def variable(line: int, requested: str, dtype: str = "float32") -> dict[str, Any]:
    handle = ["resource", []]
    return record(
        "VarHandleOp", line, types={"dtype": dtype}, outputs=[handle], requested=requested, name="table"
    )


def test_what_works_on_a_variable_stays_where_the_variable_is() -> None:
    handle = ["resource", []]
    records = [
        variable(1, "cpu:0"),
        record("ReadVariableOp", 2, [(0, handle)], types={"dtype": "float32"}),
        record("MatMul", 3, [(1, FLOAT), (1, FLOAT)], requested="gpu:0"),
    ]
    foreseen = seen(records)
    assert ways(foreseen)[0] == ("variable-home", "cpu:0", "gpu:0", 4096, STEPS)
    assert codes(foreseen) == [("warning", "variable-home", "train.py:3")]


def test_a_variable_of_a_type_without_a_kernel_lives_on_the_host() -> None:
    [row] = seen([variable(1, "", "int32")]).report["no_kernel"]
    assert (row["op"], row["runs_on"]) == ("VarHandleOp", "cpu:0")


def test_a_copy_is_kept_for_the_next_op_on_the_same_device() -> None:
    records = [
        record("MatMul", 1, requested="cpu:0"),
        record("Mul", 2, [(0, FLOAT)]),
        record("Mul", 3, [(0, FLOAT)]),
    ]
    records[2]["inputs"][0][4] = [1]
    assert len(seen(records).hops) == 1


def test_a_value_taken_each_step_waits() -> None:
    pull = {"kind": "numpy", "loc": 9, "from": [0, 0], "tensor": ["float32", []], "count": STEPS, "early": 0}
    foreseen = seen([made_on_the_default()], pulls=[pull])
    assert codes(foreseen) == [("warning", "host-sync", "train.py:9")]


def test_what_happened_in_the_first_step_only_is_no_warning() -> None:
    pull = {"kind": "numpy", "loc": 9, "from": [0, 0], "tensor": ["float32", []], "count": 1, "early": 1}
    foreseen = seen([made_on_the_default()], pulls=[pull])
    assert codes(foreseen) == [("info", "host-sync", "train.py:9")]
    assert foreseen.report["findings"][0]["summary"].endswith(
        "4 B up to the end of the first step, 1 transfer."
    )


def test_what_two_phases_do_is_counted_whole_and_told_of_the_steps_that_ran() -> None:
    """A pre-flight ends after some steps: nothing that it tells is of a whole run."""
    table = variable(1, "cpu:0")
    handle, rows = ["resource", []], ["float32", [64, 16]]

    def phase(count: int, early: int) -> dict[str, Any]:
        inputs = [[0, 0, 0, handle, [], count, early]]
        read = record("ReadVariableOp", 2, types={"dtype": "float32"}, outputs=[rows])
        return read | {"inputs": inputs, "count": count, "early": early}

    def used(maker: int, count: int, early: int) -> dict[str, Any]:
        taken = [[0, maker, 0, rows, [], count, early]]
        return record("Relu", 3, requested="gpu:0") | {"inputs": taken, "count": count, "early": early}

    foreseen = seen([table, phase(12, 12), used(1, 12, 12), phase(4, 1), used(3, 4, 1)])
    [row] = foreseen.report["findings"]
    assert row["summary"].endswith(": 4 KiB each step, 48 KiB more up to the end of the first step.")
    # What Fix and verify holds against each other says the same.
    report = foreseen.report
    assert [(hop["count"], hop["each"]) for hop in report["hops"]] == [(15, 1)]
    before = compare("variable-home", "train.py:3", report, report, line_map({})).verified.before
    assert before.bytes_of_finding == 4096

    ended = seen([table, phase(12, 12), used(1, 12, 12)], steps=0)
    assert ended.report["findings"][0]["summary"].endswith(": 48 KiB in all that ran, 12 transfers.")
    evaluated = seen([table, phase(4, 0), used(1, 4, 0)])
    assert evaluated.report["findings"][0]["summary"].endswith(
        ": 4 KiB each step, 4 KiB more in these steps."
    )


STEP = function(
    [
        node("x", "Placeholder"),
        node("pooled", "FractionalMaxPool", [[0, 0]], requested="gpu:0", loc=20),
        node("out", "MatMul", [[1, 0], [1, 0]], requested="gpu:0", loc=21),
        node("unused", "RandomShuffle", [[0, 0]], loc=22),
    ],
    1,
    [[2, 0]],
)


def test_inside_a_function_ops_fall_to_the_host_too_and_what_nothing_needs_is_not_run() -> None:
    call = record("__inference_step_1", 5, [(0, FLOAT)], function="__inference_step_1")
    foreseen = seen([made_on_the_default(), call], functions={"__inference_step_1": STEP})
    assert [(hop.src, hop.dst, hop.site, hop.count) for hop in foreseen.hops] == [
        ("gpu:0", "cpu:0", "train.py:20", STEPS),
        ("cpu:0", "gpu:0", "train.py:21", STEPS),
    ]
    assert [row["op"] for row in foreseen.report["no_kernel"]] == ["FractionalMaxPool"]


def test_in_a_function_that_was_called_in_a_scope_ops_run_there() -> None:
    call = record("f", 5, [(0, FLOAT)], function="f", requested="gpu:1")
    plain = function([node("x", "Placeholder"), node("y", "MatMul", [[0, 0], [0, 0]])], 1, [[1, 0]])
    foreseen = seen([made_on_the_default(), call], functions={"f": plain})
    assert foreseen.report["gpus"] == 2
    assert [(hop.src, hop.dst) for hop in foreseen.hops] == [("gpu:0", "gpu:1")]


def test_a_called_functions_ops_get_the_calls_device_and_name() -> None:
    inner = function([node("a", "Placeholder"), node("b", "MatMul", [[0, 0], [0, 0]])], 1, [[1, 0]])
    calling = node("call", "PartitionedCall", [[0, 0]], calls={"f": ["inner"]}, requested="gpu:1")
    outer = function([node("x", "Placeholder"), calling, node("z", "Mul", [[1, 0], [1, 0]])], 1, [[2, 0]])
    flow = parse_flow(notes([], functions={"inner": inner, "outer": outer}))
    ops = Expanded(flow.functions["outer"], flow.functions).ops
    assert [(op.name, op.requested) for op in ops] == [("call/b", "gpu:1"), ("z", "")]


def test_a_loops_ops_have_no_known_count() -> None:
    body = function([node("i", "Placeholder"), node("s", "FractionalMaxPool", [[0, 0]])], 1, [[1, 0]])
    loop = node("while", "StatelessWhile", [[0, 0]], calls={"body": ["body"], "cond": ["cond"]})
    outer = function([node("x", "Placeholder"), loop], 1, [[1, 0]])
    cond = function([node("i", "Placeholder")], 1, [[0, 0]])
    call = record("f", 5, [(0, FLOAT)], function="f")
    foreseen = seen([made_on_the_default(), call], functions={"f": outer, "body": body, "cond": cond})
    assert [(hop.src, hop.dst, hop.count) for hop in foreseen.hops if hop.op == "FractionalMaxPool"] == [
        ("gpu:0", "cpu:0", None)
    ]


def test_gradients_outside_the_scope_are_told_as_such() -> None:
    backward = record("MatMul", 7, [(0, FLOAT), (0, FLOAT)], forward=[2, "gpu:1"])
    foreseen = seen([record("MatMul", 2, requested="gpu:1"), backward])
    assert codes(foreseen) == [("warning", "gradient-outside-scope", "train.py:7")]


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ({"functions": {"f": function([], 0, [], compiled=True)}}, "inside step"),
        ({"notes": [{"what": "strategy MirroredStrategy", "loc": 4, "count": 1}]}, "MirroredStrategy"),
        ({"notes": [{"what": "asks which GPUs there are", "loc": 4, "count": 1}]}, "asks which GPUs"),
        ({"left_out": 5}, "beyond"),
        ({"version": "2.15.1"}, "kernels"),
        ({"steps": 0}, "steps"),
    ],
)
def test_what_cannot_be_foreseen_is_said(more: dict[str, Any], what: str) -> None:
    call = record("f", 5, function="f", outputs=[])
    records = [made_on_the_default(), *([call] if "functions" in more else [])]
    told = seen(records, **more).report["unforeseen"]
    assert any(what in row["what"] for row in told), told
    assert all(row["why"] for row in told)


def test_nothing_is_unforeseen_of_plain_ops() -> None:
    assert seen([made_on_the_default()]).report["unforeseen"] == []


def test_an_op_that_the_table_does_not_know_is_said_and_lowers_the_confidence() -> None:
    records = [record("MyOwnOp", 1), record("Mul", 2, [(0, FLOAT)], requested="cpu:0")]
    foreseen = seen(records)
    assert [row["what"] for row in foreseen.report["unforeseen"]] == ["MyOwnOp"]
    assert [row["confidence"] for row in foreseen.report["findings"]] == ["low"]


def test_a_table_of_another_version_lowers_the_confidence() -> None:
    records = [record("RandomShuffle", 2, requested="gpu:0")]
    assert [row["confidence"] for row in seen(records, version="2.15.1").report["no_kernel"]] == ["medium"]
    assert [row["confidence"] for row in seen(records).report["no_kernel"]] == ["high"]


def test_the_input_pipeline_stays_on_the_host_without_a_word() -> None:
    made = ["variant", []]
    data = record("TensorSliceDataset", 2, [(0, FLOAT)], types={"Toutput_types": ["float32"]}, outputs=[made])
    foreseen = seen([made_on_the_default(), data])
    assert foreseen.report["no_kernel"] == []
    assert {severity for severity, _, _ in codes(foreseen)} <= {"info"}


def test_a_kernel_of_higher_priority_on_the_host_wins_where_nobody_asked() -> None:
    machine = Machine(("cpu:0", "gpu:0"), shipped_table())
    assert machine.place("AnonymousIteratorV3", {}, "").device == "cpu:0"
    assert machine.place("MatMul", MATMUL, "").device == "gpu:0"


def test_a_device_that_is_not_there_is_replaced() -> None:
    machine = Machine(("cpu:0", "gpu:0"), shipped_table())
    place = machine.place("MatMul", MATMUL, "gpu:5")
    assert (place.device, place.rule) == ("gpu:0", "missing")


@pytest.mark.parametrize(
    ("dtype", "shape", "size"),
    [("float32", (4, 4), 64), ("bool", (3,), 3), ("complex64", (), 8), ("float8_e5m2", (4,), 4),
     ("string", (4,), None), ("int64", (None, 2), None), ("bfloat16", (4,), 8)],
)  # fmt: skip
def test_the_size_of_a_tensor(dtype: str, shape: tuple[int | None, ...], size: int | None) -> None:
    assert Tensor(dtype, shape).bytes == size


def _run(folder: Path, **spec: Any) -> Path:
    folder.mkdir(parents=True)
    about = {"run": folder.name, "framework": "tensorflow", "versions": {"tensorflow": "2.21.0"}}
    (folder / "spec.json").write_text(json.dumps({**about, **spec}))
    (folder / "status.json").write_text(json.dumps({"state": "finished", "exit_code": 0}))
    return folder


def test_the_report_of_a_run_says_what_it_rests_on(tmp_path: Path) -> None:
    run = _run(tmp_path / "20260101-000000-train-0000", preflight={"steps": 3, "gpus": 2, "seconds": 60})
    (run / "dataflow").mkdir()
    data = notes([made_on_the_default(), record("RandomShuffle", 2, [(0, FLOAT)])])
    (run / "dataflow" / "1.json").write_text(json.dumps(data))
    (run / "dataflow" / "2.json").write_text("{")
    report = preflight_report(run)
    assert (report["gpus"], report["steps"], report["status"]) == (2, STEPS, "finished")
    assert any("2.json cannot be read" in row["why"] for row in report["unforeseen"])
    text = render_preflight(report)
    assert "nothing of it was measured" in text
    assert "no-kernel: RandomShuffle at train.py:2 has no kernel on the default device" in text


@pytest.mark.parametrize(
    ("spec", "words"),
    [({}, "is no pre-flight"), ({"preflight": {"steps": 3}}, "foresees nothing")],
)
def test_a_run_that_foresees_nothing_says_why(tmp_path: Path, spec: dict[str, Any], words: str) -> None:
    with pytest.raises(HopscopeError, match=words):
        preflight_report(_run(tmp_path / "20260101-000000-train-0000", **spec))


def test_the_report_command_tells_of_a_preflight_what_it_foresees(
    tmp_path: Path, hopscope_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "20260101-000000-train-0000"
    _flown(run, [made_on_the_default(), record("RandomShuffle", 2, [(0, FLOAT)])])
    page = tmp_path / "page.html"
    assert dispatch.main(["report", str(run), "--html", str(page)]) == 0
    assert dispatch.main(["report", str(run)]) == 0
    text = capsys.readouterr().out
    foreseen, _, here = text.partition("What its steps did here, without those GPUs:")
    assert "A pre-flight. What it foresees:" in foreseen
    assert "!  no-kernel: RandomShuffle at train.py:2" in foreseen
    assert "Findings of these steps here: " in here
    assert dispatch.main(["report", str(run), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [row["code"] for row in report["foreseen"]["findings"]] == ["no-kernel"]
    html = page.read_text()
    assert html.index("Foreseen by this pre-flight") < html.index("RandomShuffle") < html.index("did here")
    # A kernel that is not taken stands above the findings.
    slow = notes(
        [made_on_the_default()], notes=[_remark("rnn lstm", **LSTM | {"against": ["it is unrolled"]})]
    )
    (run / "dataflow" / "1.json").write_text(json.dumps(slow))
    assert dispatch.main(["report", str(run), "--html", str(page)]) == 0
    html = page.read_text()
    assert html.index("LSTM lstm will not use cuDNN") < html.index("No finding is foreseen.")
    capsys.readouterr()
    # One that foresees nothing says that, and why.
    (run / "dataflow" / "1.json").unlink()
    assert dispatch.main(["report", str(run)]) == 0
    assert f"Nothing: {run.name} foresees nothing" in capsys.readouterr().out


def _flown(folder: Path, *flows: list[Any]) -> dict[str, Any]:
    run = _run(folder, preflight={"steps": 3, "gpus": 0, "seconds": 60})
    (run / "dataflow").mkdir()
    for pid, records in enumerate(flows, 1):
        (run / "dataflow" / f"{pid}.json").write_text(json.dumps(notes(records, pid=pid)))
    return preflight_report(run)


def test_each_of_several_processes_is_foreseen_and_named(tmp_path: Path) -> None:
    shuffled = [made_on_the_default(), record("RandomShuffle", 2, [(0, FLOAT)])]
    other = [*shuffled, record("FractionalMaxPool", 3, [(0, FLOAT)], requested="gpu:1")]
    report = _flown(tmp_path / "20260101-000000-train-0000", shuffled, other)
    told = {row["site"]: row["processes"] for row in report["findings"]}
    assert told == {"train.py:2": ["process 2", "process 1"], "train.py:3": ["process 2"]}
    assert {hop["process"] for hop in report["hops"]} == {"process 1", "process 2"}
    [both] = [row for row in report["findings"] if row["site"] == "train.py:2"]
    assert {report["hops"][index]["site"] for index in both["hops"]} == {"train.py:2"}
    assert len(both["hops"]) == 2
    # What one of them names, the others find.
    assert report["gpus"] == 2
    assert {row["process"]: row["steps"] for row in report["processes"]} == {"process 1": 3, "process 2": 3}
    text = render_preflight(report)
    assert "So in each of the 2 processes." in text
    assert "So in process 2." in text


def test_one_process_is_told_without_its_name(tmp_path: Path) -> None:
    report = _flown(tmp_path / "20260101-000000-train-0000", [made_on_the_default()])
    assert report["processes"] == []
    assert "process" not in render_preflight(report)


def test_a_prediction_has_the_fix_as_code_that_the_finding_would_have() -> None:
    text = """import tensorflow as tf
with tf.device("/GPU:1"):
    x = tf.random.normal((64, 16))
y = x * x
"""
    records = [
        made_on_the_default(3) | {"requested": "gpu:1"},
        record("Mul", 4, [(0, FLOAT), (0, FLOAT)]),
    ]
    flow = parse_flow(notes(records))
    [row] = foresee(flow, shipped_table(), 2, text_of={"train.py": text}.get).report["findings"]
    assert row["fix"] == row["repair"]["words"]  # text, page and --json tell the same
    added = [line[1:] for line in row["repair"]["diff"].splitlines() if line.startswith("+")]
    assert added == ["    y = x * x"]
    # Where the text is not known there is none.
    [untold] = seen(records, 2).report["findings"]
    assert untold["repair"] is None


def _in_the_hosts_scope(op: str, **more: Any) -> list[dict[str, Any]]:
    """A function's findings whose line 4 is in the host's scope, between ops that nobody placed."""
    nodes = [
        node("x", "Placeholder"),
        node("keys", "Tanh", [[0, 0]], loc=3),
        node("kept", "StopGradient", [[1, 0]], loc=4, requested="cpu:0"),
        node("others", op, [[2, 0]], loc=4, requested="cpu:0", **more),
        node("handed", "Identity", [[3, 0]], loc=4, requested="cpu:0"),
        node("far", "MatMul", [[4, 0], [1, 0]], loc=5),
    ]
    call = record("Call", 9, [(0, FLOAT)], function="f", types={})
    foreseen = seen([made_on_the_default(), call], functions={"f": function(nodes, 1, [[5, 0]])})
    return [row for row in foreseen.report["findings"] if row["site"] != "train.py:9"]


def test_what_is_on_the_host_for_want_of_a_kernel_as_asked_is_a_note_and_nothing_is_to_follow_it() -> None:
    [row] = _in_the_hosts_scope("RandomShuffle")
    assert (row["severity"], row["code"], row["site"]) == ("info", "no-kernel", "train.py:4")
    assert row["summary"] == (
        "The code asks for cpu:0 for RandomShuffle at train.py:4, and no GPU has a kernel of it"
        " (RandomShuffle has kernels for CPU): 8 KiB each step."
    )
    assert "tf.gather(x," in row["fix"]
    assert "It has to stand outside of the host's scope" in row["fix"]
    # Of what has a kernel no work of a GPU is to go to the host either.
    rows = _in_the_hosts_scope("Tanh")
    assert [(row["code"], row["site"]) for row in rows] == [
        ("default-device", f"train.py:{n}") for n in (3, 5)
    ]
    assert [row["fix"].partition(",")[0] for row in rows] == ["Keep it on gpu:0"] * 2


def _remark(what: str, **facts: Any) -> dict[str, Any]:
    return {"what": what, "loc": 4, "count": 1, "facts": facts}


def _libraries(*notes: dict[str, Any], gpus: int = 0, **more: Any) -> list[tuple[str, str, str | None]]:
    told = seen([made_on_the_default()], gpus, notes=list(notes), **more).report["libraries"]
    assert all(row["rule"] and row["source"] and row["confidence"] in ("high", "medium") for row in told)
    return [(row["severity"], row["what"], row["site"]) for row in told]


LSTM = {"layer": "LSTM", "name": "lstm", "masked": False, "keras": 3}


@pytest.mark.parametrize(
    ("facts", "severity", "words"),
    [
        ({"against": ["it is unrolled"]}, "warning", "will not use cuDNN's kernel, .*: it is unrolled$"),
        ({"against": []}, "info", "LSTM lstm will use cuDNN's kernel: its ops"),
        ({"against": [], "masked": True}, "info", "if its mask pads on the right only; else it fails"),
        ({"against": [], "masked": True, "keras": 2}, "info", "else it goes on without it"),
    ],
)
def test_whether_a_recurrent_layer_gets_cudnns_kernel(
    facts: dict[str, Any], severity: str, words: str
) -> None:
    [(told, what, site)] = _libraries(_remark("rnn lstm", **LSTM | facts))
    assert (told, site) == (severity, "train.py:4")
    assert re.search(words, what)


PRINTS = function(
    [
        node("x", "Placeholder"),
        node("y", "MatMul", [[0, 0], [0, 0]]),
        node("told", "StringFormat", [[1, 0]], loc=20, outputs=[["string", []]], types={"T": ["float32"]}),
        node("p", "PrintV2", [[2, 0]], loc=20, outputs=[], types={}),
        node("unused", "AsString", [[1, 0]], loc=21),
    ],
    1,
    [[1, 0]],
)


def test_what_xla_cannot_compile_for_a_gpu_is_an_error() -> None:
    functions = {"f": PRINTS | {"compiled": True}, "g": PRINTS | {"compiled": True}}
    assert _libraries(functions=functions) == [
        (
            "error",
            "step (jit_compile=True) will fail: XLA cannot compile StringFormat, PrintV2 for a GPU",
            "train.py:20",
        )
    ]


def test_what_keras_would_have_xla_compile() -> None:
    plain = function([node("x", "Placeholder"), node("y", "MatMul", [[0, 0], [0, 0]])], 1, [[1, 0]])
    steps = {"f": plain | {"label": "one_step_on_data"}}
    compiled = _remark("keras-jit", model="net", compiles=True)
    [(severity, what, site)] = _libraries(compiled, functions=steps)
    assert (severity, site) == ("info", "train.py:4")
    assert what.startswith("fit of net will be compiled by XLA")
    refused = {"f": PRINTS | {"label": "one_step_on_data"}}
    [(severity, what, site)] = _libraries(compiled, functions=refused)
    assert (severity, site) == ("error", "train.py:20")
    assert _libraries(_remark("keras-jit", model="net", compiles=False), functions=refused) == []


def test_what_replicas_would_exchange() -> None:
    note = _remark("all-reduce 2", strategy="MirroredStrategy", tensors=[FLOAT, ["float32", [1024]]])
    [(severity, what, site)] = _libraries(note, gpus=4)
    assert (severity, site) == ("info", "train.py:4")
    assert "sums 8 KiB of 2 tensors over them, 12 KiB sent by each" in what
    [(_, what, _)] = _libraries(note)
    assert "nothing is exchanged" in what


def test_a_preflight_is_planned_without_gpus_and_marked(tmp_path: Path, hopscope_home: Path) -> None:
    (tmp_path / "train.py").write_text("import tensorflow\n")
    plan = plan_preflight([str(tmp_path / "train.py")], extent=Extent(steps=5, gpus=2, seconds=30))
    assert plan.preflight == {"steps": 5, "gpus": 2, "seconds": 30}
    assert (plan.env["HOPSCOPE_PREFLIGHT_STEPS"], plan.env["CUDA_VISIBLE_DEVICES"]) == ("5", "-1")
    assert plan.time_limit_s is not None
    assert plan.time_limit_s > 30


def _mxnet_tables(**header: Any) -> Tables:
    fields = {"src": "cpu:0", "dst": "cpu:1", "op": "copyto", "loc": 1, "kind": "copy", "bytes": 4096}
    facts = {"requested": "cpu:1", "assigned": "cpu:1", "basis": "estimated", "facts": {"summed_on": "cpu:1"}}
    sync = {"device": "cpu:1", "kind": "asnumpy", "loc": 2, "bytes": 4, "basis": "measured", "split": True}
    own = {"device": "cpu:2", "op": "add", "loc": 3, "requested": ""}
    process = Process(
        index=0, pid=1, name="1", framework="mxnet", framework_version="1.9.1", role=None, rank=None,
        wall_ns=0, mono_ns=0, devices=["cpu:0", "cpu:1", "cpu:2"], ended=True,
        device_map={"cpu:1": {"stand_in": True}},
        header={"played": {"cpu:1": "gpu:0"}, "asked_for_gpus": {}, **header},
    )  # fmt: skip
    locations = {n: Location(n, f"train.py:{n}", None, "train.py", n, "") for n in range(1, 5)}
    keys = [Key(1, "hop", {**fields, **facts}, 8), Key(2, "sync", sync, 8), Key(3, "op", own, 8)]
    mark = Key(4, "mark", {"name": "step"}, 4)
    return Tables([process], locations, [], [*keys, mark], [], {2: KeyTotals(1, 8, 5000, 8)})


def test_the_contexts_that_played_gpus_are_told_as_gpus() -> None:
    report = foresee_mxnet(_mxnet_tables())
    [hop] = report["hops"]
    assert (hop["src"], hop["dst"], hop["dst_memory"]) == ("cpu:0", "gpu:0", "device")
    [sync] = report["syncs"]
    assert (sync["device"], sync["count"], sync["wait_ns"]) == ("gpu:0", 8, None)
    assert (report["gpus"], report["gpus_named"]) == (1, 1)
    assert [row["device"] for row in report["placement"]] == ["cpu:0", "cpu:2", "gpu:0"]
    assert {row["confidence"] for row in report["findings"]} == {"high"}


def test_what_mxnet_computes_on_the_host_only_raises_on_a_gpu() -> None:
    tables = _mxnet_tables()
    for number, (op, device) in enumerate(
        [("khatri_rao", "cpu:1"), ("khatri_rao", "cpu:0"), ("dot", "cpu:1")]
    ):
        fields = {"device": device, "op": op, "loc": 4, "requested": ""}
        tables.keys.append(Key(10 + number, "op", fields, 8))
    report = foresee_mxnet(tables)
    [row] = [row for row in report["findings"] if row["code"] == "no-kernel"]
    assert (row["severity"], row["site"], row["confidence"]) == ("error", "train.py:4", "high")
    assert "Operator khatri_rao is not implemented for GPU." in row["summary"]
    assert [(one["op"], one["runs_on"]) for one in report["no_kernel"]] == [("khatri_rao", "gpu:0")]
    assert "no-kernel: khatri_rao" in render_preflight(
        {"run": "r", "framework": "mxnet", "exit_code": 0, "status": "finished"} | report
    )
    # Of another version it is less sure.
    tables.processes[0] = dataclasses.replace(tables.processes[0], framework_version="1.7.0")
    assert [row["confidence"] for row in foresee_mxnet(tables)["no_kernel"]] == ["medium"]


def test_contexts_of_the_host_that_the_script_names_are_taken_for_cards_and_nothing_contradicts_it() -> None:
    report = foresee_mxnet(_mxnet_tables()) | {"framework": "mxnet"}
    assert report["stand_ins"] == ["cpu:2"]
    assert stand_ins_told(report) == (
        "cpu:2 is taken for a card, as a stand-in: the script names this context of the host. Left as it is,"
        " it is the host on that machine, too: then only what goes to or from a GPU crosses."
    )
    assert machine_told(report) == "for 1 GPU (as the script names)"
    told = {row["what"]: row["why"] for row in report["unforeseen"]}
    assert "kernels on cpu:2" in told and "steps" not in told
    assert not any("host's memory" in why for why in told.values())
    # A script that names no GPU is told of those, and that nothing played one is no rule then.
    alone = foresee_mxnet(_mxnet_tables(played={})) | {"framework": "mxnet"}
    assert machine_told(alone) == "for cpu:1 and cpu:2 as cards (the script names no GPU)"
    assert "GPUs" not in {row["what"] for row in alone["unforeseen"]}
    assert all(rule == RULE for row in alone["findings"] for rule in row["rules"])
    assert stand_ins_told(foresee_mxnet(_mxnet_tables(played={"cpu:1": "gpu:0", "cpu:2": "gpu:1"}))) == ""


def test_logical_devices_of_the_host_are_taken_for_cards_too(tmp_path: Path) -> None:
    copied = [record("Identity", n, [(n - 2, FLOAT)], requested=f"cpu:{n - 1}") for n in (2, 3)]
    report = _flown(tmp_path / "20260101-000000-train-0000", [made_on_the_default(), *copied])
    report["framework"] = "tensorflow"
    assert report["stand_ins"] == ["cpu:1", "cpu:2"]
    assert "kernels on cpu:1 and cpu:2" in {row["what"] for row in report["unforeseen"]}
    assert (
        "cpu:1 and cpu:2 are taken for cards, as stand-ins: the script names these logical devices of the"
        " host. Left as they are, they are the host on that machine, too:"
    ) in render_preflight(report)
    none = _flown(tmp_path / "20260101-000000-train-0001", [made_on_the_default()])
    assert (none["stand_ins"], stand_ins_told(none)) == ([], "")


def test_more_gpus_than_there_would_be_are_said() -> None:
    tables = _mxnet_tables(played={"cpu:1": "gpu:0", "cpu:2": "gpu:1"}, asked_for_gpus={"3": 3})
    told = {row["what"]: row for row in foresee_mxnet(tables, 1)["unforeseen"]}
    assert "gpu(1)" in told["gpu numbers"]["why"]
    asks = told["the script asks how many GPUs there are"]
    assert (asks["site"], asks["why"]) == ("train.py:3", "it was told 1")
    # That fewer were told than there would be has a reason.
    unasked = {row["what"]: row for row in foresee_mxnet(tables)["unforeseen"]}
    assert "with --gpus 2" in unasked["the script asks how many GPUs there are"]["why"]


def test_a_table_that_the_code_put_on_the_host_is_what_is_elsewhere_and_no_fix_trains_there() -> None:
    text = """import tensorflow as tf
with tf.device("/CPU:0"):
    emb.build((None, None))
m.fit(x)
"""
    handle, table, ids = ["resource", []], ["float32", [1000, 32]], ["int64", [16, 10]]
    read = record("ReadVariableOp", 4, [(0, handle)], types={"dtype": "float32"}, outputs=[table])
    types = {"Tparams": "float32", "Tindices": "int64", "Taxis": "int32"}
    gather = record("GatherV2", 4, [(1, table), (2, ids)], types=types)
    made = record("Cast", 4, types={"SrcT": "float32", "DstT": "int64"}, outputs=[ids])
    records = [variable(3, "cpu:0"), read, made, gather]
    foreseen = foresee(parse_flow(notes(records)), shipped_table(), text_of={"train.py": text}.get)
    [row] = [row for row in foreseen.report["findings"] if row["severity"] == "warning"]
    assert (row["code"], row["site"], row["repair"]) == ("variable-home", "train.py:4", None)
    assert row["summary"].startswith("table lives on cpu:0 and is read on gpu:0")
    assert "on gpu:0" in row["fix"] and "train.py:3 creates it in a scope of cpu:0" in row["fix"]


def test_what_has_a_gpus_kernel_is_never_moved_to_the_host_as_a_fix() -> None:
    text = """import tensorflow as tf
with tf.device("/CPU:0"):
    x = tf.random.normal((64, 16))
y = tf.matmul(x, x)
"""
    records = [
        made_on_the_default(3) | {"requested": "cpu:0"},
        record("MatMul", 4, [(0, FLOAT), (0, FLOAT)]),
    ]
    foreseen = foresee(parse_flow(notes(records)), shipped_table(), text_of={"train.py": text}.get)
    [row] = foreseen.report["findings"]
    assert (row["code"], row["repair"]) == ("default-device", None)
    assert row["fix"].startswith("Keep it on gpu:0")


def test_an_op_for_which_tensorflow_prefers_the_host_is_told_as_that() -> None:
    records = [made_on_the_default(), record("OptionalFromValue", 2, [(0, FLOAT)], types={})]
    assert {code for code, *_ in ways(seen(records))} == {"host-memory"}


def test_what_keras_loop_does_for_itself_is_no_finding() -> None:
    records = [made_on_the_default(), record("OptionalFromValue", 2, [(0, FLOAT)], types={})]
    sites = {"1": ["train.py:1", None], "2": ["train.py:2", "keras/src/trainer.py:step"]}
    foreseen = seen(records, sites=sites)
    assert [code for code, *_ in ways(foreseen)] == ["host-memory"]
    assert foreseen.report["findings"] == []


def test_the_report_tells_common_rules_once_and_how_to_try_a_fix(tmp_path: Path) -> None:
    shuffled = [record("RandomShuffle", line, [(0, FLOAT)], requested="gpu:0") for line in (2, 3)]
    report = _flown(tmp_path / "20260101-000000-train-0000", [made_on_the_default(), *shuffled])
    report["again"] = "python3 -m app preflight -- train.py"
    told = render_preflight(report)
    common = [line.partition("rule: ")[2] for line in told.splitlines() if "each by the rule" in line]
    assert common and all(told.count(rule) == 1 for rule in common)
    assert "To try a fix, make it in the script, then: python3 -m app preflight -- train.py" in told
    # A further rule is told as one more; that there is no kernel is told as unsure only where it is.
    report["findings"][0]["rules"] = [*common, "another"]
    told = render_preflight(report)
    assert "     and by the rule: another" in told
    assert "train.py:2  RandomShuffle has kernels for CPU\n" in told
    report["no_kernel"][0] |= {"confidence": "medium", "why": "of another version"}
    assert "RandomShuffle has kernels for CPU (confidence medium: of another version)\n" in render_preflight(
        report
    )


def test_notes_are_folded_and_what_libraries_would_do_comes_first_where_it_is_as_bad(tmp_path: Path) -> None:
    command = "python3 -m app report r --notes"
    records = [made_on_the_default(), record("RandomShuffle", 2, [(0, FLOAT)])]
    report = _flown(tmp_path / "20260101-000000-train-0000", records)
    [warning] = report["findings"]
    rules = [*warning["rules"], "a rule of the note"]
    note = warning | {"severity": "info", "summary": "As was asked for.", "rules": rules, "fix": None}
    report["findings"] += [note, note | {"fix": "Prefetch."}]
    layer = {"what": "No cuDNN.", "site": "a.py:1", "severity": "warning", "confidence": "high", "why": ""}
    report["libraries"] = [layer | {"rule": "theirs", "source": "Keras"}] * 2
    told = render_preflight(report, command)
    assert "As was asked for." not in told and "a rule of the note" not in told
    assert "   and 2 notes, 1 with advice: python3 -m app report r --notes" in told.splitlines()
    order = ["What libraries for GPUs would do", "Findings", "Without a GPU kernel"]
    assert sorted(order, key=told.index) == order
    assert told.count("rule of Keras: theirs") == 1
    every = render_preflight(report)
    assert every.count("As was asked for.") == 2 and "--notes" not in every
    # What only informs comes behind; and a worse finding before.
    for worse in ({"libraries": [layer | {"rule": "r", "source": "s", "severity": "info"}]},
                  {"findings": [warning | {"severity": "error"}]}):  # fmt: skip
        told = render_preflight(report | worse, command)
        assert told.index("Findings") < told.index("What libraries")
    quiet = render_preflight(report | {"findings": [note], "libraries": []}, command).splitlines()
    at = quiet.index("Findings: nothing needs attention")
    assert quiet[at + 1] == f"   1 note: {command}"


def test_an_int32_tensor_of_pythons_data_is_on_the_host_by_a_rule_of_its_own() -> None:
    seed = ["int32", [64]]
    records = [
        record("_EagerConst", 1, types={"dtype": "int32"}, outputs=[seed]),
        record("Cast", 2, [(0, seed)], types={"SrcT": "int32", "DstT": "int64"}, outputs=[["int64", [64]]]),
    ]
    [row] = seen(records).report["findings"]
    assert (row["code"], row["site"]) == ("default-device", "train.py:2")
    assert any("becomes a tensor on the host" in rule for rule in row["rules"])
    assert not any("resource" in rule for rule in row["rules"])


def test_arguments_and_results_in_host_memory_are_told_in_one_sentence() -> None:
    kept = ["int32", [64]]
    records = [
        record("Range", 1, types={"Tidx": "int32"}, outputs=[kept]),
        made_on_the_default(),
        record("GatherV2", 2, [(1, FLOAT), (0, kept)], types={"Tparams": "float32", "Tindices": "int32"}),
        record("Reshape", 2, [(1, FLOAT), (3, ["int64", [2]])], types={"T": "float32", "Tshape": "int64"}),
    ]
    records.insert(3, record("OnesLike", 2, [], types={"T": "int64"}, outputs=[["int64", [2]]]))
    records[4]["inputs"][1][1] = 3
    [row] = seen(records).report["findings"]
    assert row["summary"].startswith(
        "GatherV2, Reshape at train.py:2 take on gpu:0 what kernels keep in host memory, as arguments or as"
        " results: "
    )
    assert row["because"].endswith("keeps this result and argument of type int32 and int64 in host memory.")


def test_a_preflights_trial_is_one_too(tmp_path: Path, hopscope_home: Path) -> None:
    (tmp_path / "train.py").write_text("import tensorflow\n")
    asked = plan_preflight(
        ["train.py", "--epochs", "3"],
        extent=Extent(gpus=2, steps=5),
        cwd=tmp_path,
        launch=LaunchOptions(python=sys.executable),
    )
    spec = {"kind": "script", "command": asked.command, "cwd": str(tmp_path), "devices": ["cpu:0"]}
    folder = _run(tmp_path / "20260101-000000-train-0000", preflight=dict(asked.preflight or {}), **spec)
    ownership.sign(folder)
    again = plan_trial(read_run(folder), "host-sync@train.py:1")
    assert (again.preflight, again.time_limit_s) == (asked.preflight, asked.time_limit_s)
    assert again.env["HOPSCOPE_PREFLIGHT_STEPS"] == "5"
    told = "python3 -m app preflight --steps 5 --gpus 2 -- train.py --epochs 3"
    assert command_again(read_run(folder)) == told
