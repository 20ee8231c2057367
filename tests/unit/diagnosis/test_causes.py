"""Each cause is given only where the recorded facts decide it."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from app.diagnosis.judge import RULES, judge
from app.diagnosis.registry import SEVERITY, advice
from app.facts.transfers.transfer import Context, Reduction, sent
from app.store.paces import Pace
from app.views.naming import some_of
from tests.unit.evidence_records import evidence
from tests.unit.traces import hop_fields

STAND_INS = Context(frozenset({"cpu:0", "cpu:1", "cpu:2"}), rounds=30)
GPUS = Context(frozenset({"cpu:0", "gpu:0", "gpu:1"}), rounds=30)
REDUCED = Context(
    frozenset({"cpu:0", "cpu:1", "cpu:2"}),
    [Reduction(4, 9, frozenset({"cpu:1", "cpu:2"}), "reduction-to-one-device")],
    30,
)

WITH_HOST = Context(
    frozenset({"cpu:0", "cpu:1"}), [Reduction(0, 9, frozenset({"cpu:0", "cpu:1"}), "kvstore local")], 30
)
HOST_BY_DEFAULT = Context(
    frozenset({"cpu:0", "gpu:0", "gpu:1", "server:0/gpu:0"}),
    rounds=30,
    defaults={"": "cpu:0", "worker:1": "worker:1/cpu:0"},
)

TAKEN = Context(
    frozenset({"cpu:0", "cpu:1", "cpu:2"}), rounds=30, taken={(9, "cpu:0"): "numpy", (7, "cpu:0"): "bool"}
)
READ = {"loc": 9, "op": "Identity", "producer_op": "", "facts": {"variable": "w"}}

KVSTORE = {"collective": "kvstore local"}
EXCHANGED = {"collective": "kvstore local, summed on cpu:0", "exchange_devices": ["cpu:1", "cpu:2"]}
PYTHONS = {"producer_op": "Python"}
BOTH_NAMED = {"requested": "cpu:2", "producer_requested": "cpu:1"}
CALLED = {"called_on": "cpu:2"}
MADE_BY_CALLED = {"producer_called_on": "cpu:2"}
MADE_BY_FUNCTION = {"made_by_function": True}
GRADIENT_CALLED = {"forward_loc": 5, "facts": {"forward_requested": "cpu:1"} | CALLED}
RETURNED = {"result_of_function": True}
SHAPE = {"op": "Reshape", "dtype": "int32", "kind": "arg", "producer_op": "_Arg", "requested": "cpu:1"} | {
    "facts": {"input_slots": [1]}
}
SHUFFLE = {"op": "RandomShuffle", "requested": "cpu:0"}
SHUFFLED = {"producer_op": "RandomShuffle", "producer_requested": "cpu:0"}
TENSORFLOW = dataclasses.replace(GPUS, places_ops=True)
GRADIENT = {"forward_loc": 5, "facts": {"forward_requested": "cpu:1"}}
READ_BACKWARD = {"forward_loc": 5, "bytes": 1 << 16, "requested": "cpu:2"} | {
    "facts": {"forward_requested": "cpu:1", "variable": "w"}
}
MADE_BY_GRADIENT = {"forward_loc": 5, "facts": {"producer_forward_requested": "cpu:1"}}


@pytest.mark.parametrize(
    ("src", "dst", "fields", "context", "code"),
    [
        # The code named both.
        ("cpu:1", "cpu:2", BOTH_NAMED, STAND_INS, "explicit"),
        ("cpu:1", "cpu:2", {"requested": "cpu:2"}, STAND_INS, "unknown"),
        ("cpu:1", "cpu:2", {"producer_requested": "cpu:1"}, STAND_INS, "unknown"),
        ("cpu:1", "cpu:2", {"requested": "cpu:2", "producer_requested": "cpu:2"}, STAND_INS, "unknown"),
        # The function was called in a scope, which decides where its ops have none.
        ("cpu:1", "cpu:2", {"producer_requested": "cpu:1", "facts": CALLED}, STAND_INS, "explicit"),
        ("cpu:2", "cpu:1", {"requested": "cpu:1", "facts": MADE_BY_CALLED}, STAND_INS, "explicit"),
        ("cpu:1", "cpu:0", {"producer_requested": "cpu:1", "facts": CALLED}, STAND_INS, "unknown"),
        ("cpu:1", "cpu:2", {"facts": CALLED | {"variable": "w"}}, STAND_INS, "variable-home"),
        ("cpu:1", "cpu:2", GRADIENT_CALLED, STAND_INS, "gradient-outside-scope"),
        # What a function returned lies where its ops put it; who takes it asked for a device.
        ("cpu:1", "cpu:0", {"requested": "cpu:0", "facts": MADE_BY_FUNCTION}, STAND_INS, "explicit"),
        ("gpu:0", "cpu:0", {"requested": "cpu:0", "facts": MADE_BY_FUNCTION}, GPUS, "explicit"),
        ("cpu:0", "cpu:1", {"requested": "cpu:1", "facts": MADE_BY_FUNCTION}, STAND_INS, "default-device"),
        ("cpu:1", "cpu:2", {"requested": "cpu:0", "facts": MADE_BY_FUNCTION}, STAND_INS, "unknown"),
        ("cpu:1", "cpu:2", {"facts": MADE_BY_FUNCTION}, STAND_INS, "unknown"),
        # Functions take and return int32 on the host, and a GPU's kernels some arguments.
        ("cpu:0", "cpu:1", {"kind": "arg", "facts": {"argument_lay_on": "cpu:1"}}, STAND_INS, "host-memory"),
        ("cpu:0", "cpu:2", {"requested": "cpu:2", "facts": RETURNED}, STAND_INS, "host-memory"),
        ("cpu:1", "cpu:2", {"requested": "cpu:2", "facts": RETURNED}, STAND_INS, "unknown"),
        ("cpu:0", "cpu:1", SHAPE, dataclasses.replace(STAND_INS, places_ops=True), "host-memory"),
        ("cpu:0", "cpu:1", SHAPE, STAND_INS, "unknown"),
        # An element of an input pipeline, asked for in a scope: it comes from where the pipeline is.
        (
            "cpu:0",
            "cpu:1",
            {"kind": "arg", "producer_op": "IteratorGetNext", "producer_requested": "cpu:1"},
            STAND_INS,
            "colocation",
        ),
        # What a function is given was made on the default device.
        (
            "cpu:0",
            "cpu:1",
            {"kind": "arg", "requested": "cpu:1", "producer_op": "AddV2"},
            STAND_INS,
            "default-device",
        ),
        # Rows of a table are looked up where the code asked for that; or where the table just is.
        ("cpu:1", "cpu:2", {**BOTH_NAMED, "producer_op": "ResourceGather"}, STAND_INS, "explicit"),
        (
            "cpu:1",
            "cpu:2",
            {"requested": "cpu:2", "producer_op": "ResourceGather"},
            STAND_INS,
            "variable-home",
        ),
        # Nobody named the consumer's.
        ("cpu:1", "cpu:0", {}, STAND_INS, "default-device"),
        # An Identity called outside of functions is the code's own, but what a variable is read by.
        ("cpu:1", "cpu:0", {"op": "Identity"}, STAND_INS, "default-device"),
        ("cpu:1", "cpu:0", {"op": "Identity", "graph": 4}, STAND_INS, "unknown"),
        ("cpu:1", "cpu:0", READ, STAND_INS, "variable-home"),
        ("cpu:1", "cpu:2", {}, STAND_INS, "unknown"),
        ("gpu:1", "gpu:0", {}, GPUS, "default-device"),
        ("gpu:1", "cpu:0", {}, GPUS, "unknown"),
        ("cpu:1", "cpu:0", {"requested": "cpu:0", "producer_requested": "cpu:1"}, STAND_INS, "explicit"),
        ("cpu:1", "cpu:0", {"op": "_Retval"}, STAND_INS, "unknown"),
        # A loop's or branch's plumbing, which nobody could have put anywhere.
        ("cpu:1", "cpu:0", {"op": "Merge"}, STAND_INS, "unknown"),
        ("cpu:1", "cpu:0", {"op": "NextIteration"}, STAND_INS, "unknown"),
        ("cpu:1", "cpu:0", {"consumers": ["ConstantFolding/x"]}, STAND_INS, "unknown"),
        ("cpu:1", "cpu:0", {"facts": {"rewritten": True}}, STAND_INS, "unknown"),
        ("worker:1/gpu:1", "worker:1/gpu:0", {}, Context(frozenset({"worker:1/gpu:0"})), "default-device"),
        # A backward op, its forward op placed elsewhere.
        ("cpu:1", "cpu:0", GRADIENT, STAND_INS, "gradient-outside-scope"),
        ("cpu:1", "cpu:2", GRADIENT, STAND_INS, "unknown"),
        # A backward op in another scope than its forward op, which reads a variable where that is.
        ("cpu:1", "cpu:2", READ_BACKWARD, STAND_INS, "gradient-outside-scope"),
        ("cpu:1", "cpu:2", READ_BACKWARD | {"bytes": 4}, STAND_INS, "variable-home"),
        ("cpu:3", "cpu:2", READ_BACKWARD, STAND_INS, "variable-home"),
        ("cpu:0", "cpu:1", {**MADE_BY_GRADIENT, "requested": "cpu:1"}, STAND_INS, "gradient-outside-scope"),
        ("cpu:2", "cpu:1", {**MADE_BY_GRADIENT, "requested": "cpu:1"}, STAND_INS, "unknown"),
        (
            "cpu:1",
            "cpu:0",
            {"forward_loc": 5, "facts": {"forward_requested": ""}},
            STAND_INS,
            "default-device",
        ),
        ("cpu:1", "cpu:0", {"forward_loc": 5}, STAND_INS, "unknown"),
        (
            "cpu:2",
            "cpu:1",
            {"forward_loc": 5, "requested": "cpu:1", "producer_requested": "cpu:2"}
            | {"facts": {"forward_requested": "cpu:1", "producer_forward_requested": "cpu:2"}},
            STAND_INS,
            "explicit",
        ),
        # A gradient that reads a variable from afar is a gradient out of place first.
        (
            "cpu:1",
            "cpu:0",
            {**GRADIENT, "producer_op": "ReadVariableOp"},
            STAND_INS,
            "gradient-outside-scope",
        ),
        # Variables.
        (
            "cpu:1",
            "cpu:2",
            {"producer_op": "ReadVariableOp", "requested": "cpu:2"},
            STAND_INS,
            "variable-home",
        ),
        ("cpu:1", "cpu:2", {"facts": {"variable": "kernel"}, **BOTH_NAMED}, STAND_INS, "variable-home"),
        ("cpu:1", "cpu:0", {"producer_op": "ReadVariableOp"}, STAND_INS, "default-device"),
        # Python.
        (
            "cpu:1",
            "cpu:0",
            {"kind": "pull", "op": "Python", "facts": {"sync": "float"}},
            STAND_INS,
            "host-sync",
        ),
        # A variable's value, which its own method reads to the host before Python takes it.
        ("cpu:1", "cpu:0", READ, TAKEN, "host-sync"),
        # A comparison of scalars that Python decides by.
        ("cpu:1", "cpu:0", {"op": "Less", "loc": 7, "bytes": 4}, TAKEN, "host-sync"),
        ("cpu:1", "cpu:0", {"op": "Less", "loc": 7, "bytes": 4096}, TAKEN, "default-device"),
        ("cpu:1", "cpu:0", {"op": "Less", "loc": 9, "bytes": 4}, TAKEN, "default-device"),
        ("cpu:1", "cpu:0", {"op": "Less", "loc": 7, "bytes": 4, "requested": "cpu:0"}, TAKEN, "unknown"),
        ("cpu:1", "cpu:0", {**READ, "loc": 8}, TAKEN, "variable-home"),
        ("cpu:1", "cpu:0", {**READ, "op": "AddV2"}, TAKEN, "default-device"),
        ("cpu:1", "cpu:0", {**READ, "graph": 4}, TAKEN, "variable-home"),
        ("cpu:1", "cpu:0", {**READ, "requested": "cpu:0"}, TAKEN, "variable-home"),
        ("cpu:2", "cpu:1", READ, TAKEN, "variable-home"),
        ("cpu:1", "cpu:0", {**READ, "facts": {}}, TAKEN, "unknown"),
        ("cpu:0", "cpu:1", {"kind": "upload", "producer_op": "Python"}, STAND_INS, "host-upload"),
        ("cpu:0", "cpu:1", {"kind": "arg", "producer_op": "Const"}, STAND_INS, "host-upload"),
        ("cpu:2", "cpu:1", {"kind": "arg", "producer_op": "Const"}, STAND_INS, "unknown"),
        ("cpu:0", "cpu:1", {"producer_op": "Const", "requested": "cpu:1"}, STAND_INS, "host-upload"),
        (
            "cpu:0",
            "cpu:1",
            {"producer_op": "Const", "requested": "cpu:1", "producer_requested": "cpu:0"},
            STAND_INS,
            "explicit",
        ),
        # Input pipelines.
        ("cpu:0", "cpu:1", {"kind": "arg", "producer_op": "IteratorGetNext"}, STAND_INS, "colocation"),
        ("cpu:0", "cpu:1", {"producer_op": "IteratorGetNext"}, STAND_INS, "colocation"),
        # The code named the consumer's device only.
        ("cpu:0", "cpu:1", {"requested": "cpu:1"}, STAND_INS, "default-device"),
        (
            "cpu:0",
            "cpu:1",
            {"requested": "cpu:1", "graph": 4, "producer_op": "Const"},
            STAND_INS,
            "default-device",
        ),
        ("cpu:0", "cpu:1", {"requested": "cpu:1", "kind": "arg"}, STAND_INS, "default-device"),
        ("cpu:0", "cpu:1", {"requested": "cpu:1", "producer": "ConstantFolding/x"}, STAND_INS, "unknown"),
        ("cpu:0", "cpu:1", {"requested": "cpu:1", "forward_loc": 5}, STAND_INS, "unknown"),
        ("cpu:0", "cpu:1", {"requested": "cpu:1", "producer_op": "Merge"}, STAND_INS, "unknown"),
        ("gpu:0", "gpu:1", {"requested": "gpu:1"}, GPUS, "default-device"),
        ("cpu:0", "gpu:1", {"requested": "gpu:1"}, GPUS, "unknown"),
        # Copies that move nothing anywhere.
        ("cpu:1", "cpu:1", BOTH_NAMED, STAND_INS, "redundant-copy"),
        ("cpu:1", "cpu:2", {"facts": {"copied_before": "t"}, **BOTH_NAMED}, STAND_INS, "redundant-copy"),
        # Devices that are not there.
        ("cpu:1", "cpu:2", {"requested": "gpu:3"}, STAND_INS, "missing-device"),
        ("cpu:1", "cpu:2", {"producer_requested": "gpu:3"}, STAND_INS, "missing-device"),
        ("cpu:1", "cpu:2", {"requested": "gpu:*"}, STAND_INS, "unknown"),
        ("cpu:1", "cpu:2", {"requested": "gpu:3"}, Context(), "unknown"),
        # Host memory.
        ("gpu:0", "gpu:0", {"dst_memory": "host"}, GPUS, "host-memory"),
        ("cpu:0", "gpu:0", {"dst_memory": "host", "requested": "gpu:0"}, GPUS, "host-memory"),
        ("gpu:0", "gpu:0", {"src_memory": "host"}, GPUS, "host-memory"),
        (
            "gpu:1",
            "gpu:0",
            {"dst_memory": "host", "requested": "gpu:0", "producer_requested": "gpu:1"},
            GPUS,
            "explicit",
        ),
        ("cpu:2", "cpu:1", {"dst_memory": "host", "requested": "cpu:1"}, STAND_INS, "unknown"),
        # What the recorder says outright.
        ("gpu:0", "cpu:0", {"facts": {"no_kernel": "UniqueV2 has kernels for CPU"}}, GPUS, "no-kernel"),
        (
            "cpu:0",
            "gpu:0",
            {"facts": {"producer_no_kernel": "UniqueV2 has kernels for CPU"}},
            GPUS,
            "no-kernel",
        ),
        # It asked for the host for what no GPU has a kernel of; of others the scope is in question.
        ("gpu:0", "cpu:0", SHUFFLE, TENSORFLOW, "no-kernel"),
        ("cpu:0", "gpu:0", SHUFFLED, TENSORFLOW, "no-kernel"),
        ("cpu:0", "gpu:0", SHUFFLED, GPUS, "default-device"),
        ("gpu:0", "cpu:0", SHUFFLE | {"op": "Tanh"}, TENSORFLOW, "default-device"),
        ("gpu:0", "cpu:0", {"facts": {"colocated_with": "kernel"}}, GPUS, "colocation"),
        ("cpu:1", "cpu:2", {"facts": {"collective": "ring"}}, STAND_INS, "collective"),
        # Copies that the code called.
        ("cpu:1", "cpu:2", {"facts": {"copy_call": "copyto"}}, STAND_INS, "explicit"),
        ("cpu:0", "cpu:1", {"facts": {"copy_call": "as_in_context"}, **PYTHONS}, STAND_INS, "explicit"),
        ("cpu:1", "cpu:0", {"facts": {"copy_call": "slice assignment"}}, STAND_INS, "explicit"),
        ("cpu:1", "cpu:1", {"facts": {"copy_call": "copyto"}}, STAND_INS, "redundant-copy"),
        (
            "cpu:1",
            "cpu:2",
            {"facts": {"copy_call": "copyto", "copied_before": "x"}},
            STAND_INS,
            "redundant-copy",
        ),
        ("cpu:0", "cpu:1", {"kind": "upload", "facts": {"copy_call": "[:]"}}, STAND_INS, "host-upload"),
        ("cpu:1", "cpu:0", {"kind": "pull", "facts": {"copy_call": "copyto"}}, STAND_INS, "host-sync"),
        # Gradients that a store sums, on one of those that exchange them or on the host beside them.
        ("cpu:2", "cpu:1", {"loc": 9, "facts": KVSTORE | {"summed_on": "cpu:1"}}, REDUCED, "collective"),
        ("cpu:2", "cpu:0", {"loc": 9, "facts": KVSTORE | {"summed_on": "cpu:0"}}, REDUCED, "reduce-on-host"),
        ("cpu:0", "cpu:2", {"loc": 9, "facts": KVSTORE | {"summed_on": "cpu:0"}}, REDUCED, "reduce-on-host"),
        ("cpu:1", "cpu:0", {"loc": 9, "facts": KVSTORE | {"summed_on": "cpu:0"}}, WITH_HOST, "collective"),
        ("cpu:2", "cpu:0", {"facts": EXCHANGED | {"summed_on": "cpu:0"}}, STAND_INS, "reduce-on-host"),
        ("cpu:2", "cpu:1", {"facts": EXCHANGED | {"summed_on": "cpu:1"}}, STAND_INS, "collective"),
        ("cpu:0", "cpu:1", {"facts": EXCHANGED}, STAND_INS, "collective"),
        # Who exchanges is not known: that the host is none of them is not, either.
        ("cpu:2", "cpu:0", {"loc": 8, "facts": KVSTORE | {"summed_on": "cpu:0"}}, REDUCED, "collective"),
        ("cpu:2", "cpu:0", {"loc": 9, "facts": KVSTORE}, REDUCED, "collective"),
        # Where ops go that nobody placed, as the recorder says.
        ("gpu:1", "cpu:0", {}, HOST_BY_DEFAULT, "default-device"),
        ("gpu:1", "gpu:0", {}, HOST_BY_DEFAULT, "unknown"),
        ("worker:1/gpu:1", "worker:1/cpu:0", {}, HOST_BY_DEFAULT, "default-device"),
        ("worker:0/gpu:1", "worker:0/cpu:0", {}, HOST_BY_DEFAULT, "default-device"),
        ("server:0/gpu:1", "server:0/cpu:0", {}, HOST_BY_DEFAULT, "unknown"),
        # Sums of a reduction.
        ("cpu:2", "cpu:1", {"op": "AddN", "loc": 9, "graph": 4}, REDUCED, "collective"),
        ("cpu:1", "cpu:2", {"producer_op": "AddN", "loc": 9, "graph": 4}, REDUCED, "collective"),
        ("cpu:2", "cpu:0", {"op": "AddN", "loc": 9, "graph": 4}, REDUCED, "collective"),
        ("cpu:2", "cpu:0", {"op": "AddN", "loc": 9, "graph": 4, "forward_loc": 3}, REDUCED, "reduce-on-host"),
        ("cpu:2", "cpu:1", {"op": "AddN", "loc": 8, "graph": 4}, REDUCED, "unknown"),
        ("cpu:2", "cpu:1", {"op": "AddN", "loc": 9, "graph": 3}, REDUCED, "unknown"),
        (
            "cpu:1",
            "cpu:2",
            {"op": "AssignVariableOp", "loc": 9, "graph": 4, **BOTH_NAMED},
            REDUCED,
            "explicit",
        ),
    ],
)
def test_the_cause(src: str, dst: str, fields: dict[str, Any], context: Context, code: str) -> None:
    # What a memory is called is given where it matters: on devices both ends are the devices' own.
    memories = {"src_memory": "device", "dst_memory": "device"}
    cause = judge(hop_fields(src, dst, **(memories | fields)), context, 30)
    assert cause.code == code
    assert cause.evidence.row()["src"] == src
    assert cause.evidence.row()["dst"] == dst


def test_facts_that_are_missing_decide_nothing() -> None:
    assert judge({}, Context()).code == "unknown"


@pytest.mark.parametrize(
    ("fields", "count", "severity"),
    [
        ({"kind": "pull"}, 30, "warning"),
        ({"kind": "pull"}, 3, "info"),
        ({"kind": "pull"}, None, "info"),
        ({"facts": {"variable": "kernel"}, "requested": "cpu:1"}, 30, "warning"),
        ({"facts": {"variable": "kernel"}, "requested": "cpu:1"}, 1, "info"),
        # In a loop beside the steps, nearly as often: no summary of an epoch's.
        ({"facts": {"variable": "kernel"}, "requested": "cpu:1"}, 16, "warning"),
        ({"facts": {"variable": "kernel"}, "requested": "cpu:1"}, 5, "info"),
        ({"facts": {"variable": "iteration"}, "requested": "cpu:1", "bytes": 8}, 30, "info"),
        ({"kind": "upload"}, 30, "info"),
        ({"kind": "upload", "facts": {"stalls": True}}, 30, "warning"),
        ({"facts": {"copied_before": "train.py:3"}}, 30, "warning"),
        ({"facts": {"copied_before": "train.py:3"}}, 1, "info"),
        ({}, 30, "warning"),
        ({}, 1, "info"),
        ({"bytes": 8}, 30, "info"),
        # An evaluation without a scope, which fetches the variable for every batch.
        ({"facts": {"variable": "kernel"}}, 16, "warning"),
        ({"facts": {"variable": "kernel"}}, 5, "info"),
        ({"facts": {"variable": "kernel"}, "bytes": 8}, 16, "info"),
        ({}, 16, "info"),
        ({}, None, "warning"),
        ({"forward_loc": 5, "facts": {"forward_requested": "cpu:1"}}, 1, "warning"),
    ],
)
def test_how_bad_it_is(fields: dict[str, Any], count: int | None, severity: str) -> None:
    """What happens less often than every step is no warning; a misplaced gradient always is."""
    assert judge(hop_fields("cpu:1", "cpu:0", **fields), STAND_INS, count).severity == severity


@pytest.mark.parametrize(
    ("fields", "count", "severity"),
    [
        ({}, 16, "warning"),
        ({}, 5, "info"),  # a batch or two of each
        ({"bytes": 1024}, 16, "info"),
        ({"requested": "cpu:0"}, 16, "info"),
        ({"src": "cpu:0", "dst": "cpu:1"}, 16, "info"),  # its data, which comes from the host
    ],
)
def test_a_scope_that_an_evaluation_lacks_each_time_it_is_made_is_a_warning(
    fields: dict[str, Any], count: int, severity: str
) -> None:
    """Bug: logits that went to the default device in each batch of each evaluation were a note."""
    crossing = hop_fields("cpu:1", "cpu:0", bytes=1 << 20) | fields
    assert judge(crossing, STAND_INS, count, 0.0, again=True).severity == severity
    assert judge(crossing, STAND_INS, count, 0.0).severity == "info"


def test_what_comes_in_bursts_is_several_times_in_a_few_of_the_steps() -> None:
    after_epochs = Pace(within=9, mask=0b1000_1000_1000, seen=15)
    assert after_epochs.in_bursts()
    once_each = dataclasses.replace(after_epochs, within=3)
    one_evaluation = dataclasses.replace(after_epochs, within=9, mask=0b1000)
    each_step = dataclasses.replace(after_epochs, within=30, mask=(1 << 15) - 1)
    assert not any(pace.in_bursts() for pace in (once_each, one_evaluation, each_step))


def test_pythons_data_that_a_gpu_gets_to_send_it_back_to_the_host_is_a_warning() -> None:
    given: dict[str, Any] = {"kind": "arg", "requested": "cpu:0", "bytes": 4096}
    for op, severity in (("Const", "warning"), ("MatMul", "info")):
        cause = judge(hop_fields("gpu:0", "cpu:0", **given, producer_op=op), TENSORFLOW, 30)
        assert (cause.code, cause.severity, cause.blames) == ("default-device", severity, "producer")
    to_other = hop_fields("gpu:0", "gpu:1", **given | {"requested": "gpu:1"}, producer_op="Const")
    assert judge(to_other, TENSORFLOW, 30).severity == "info"


def test_a_captured_tensor_that_goes_to_a_misplaced_gradient_is_no_needless_copy() -> None:
    captured = hop_fields("cpu:1", "cpu:0", kind="arg", producer_requested="cpu:1", bytes=4096)
    again = dataclasses.replace(STAND_INS, repeated=frozenset({sent(captured)}))
    assert judge(captured, again, 30).code == "redundant-copy"
    assert judge(captured | GRADIENT, again, 30).code == "gradient-outside-scope"


@pytest.mark.parametrize(("size", "severity"), [(4096, "warning"), (12, "info")])
def test_an_unchanged_array_that_is_copied_again_and_again_is_a_needless_copy(
    size: int, severity: str
) -> None:
    copied = hop_fields("cpu:0", "cpu:1", kind="copy", bytes=size, facts={"copy_call": "as_in_context"})
    again = dataclasses.replace(STAND_INS, repeated=frozenset({sent(copied)}))
    cause = judge(copied, again, 30)
    assert (cause.code, cause.severity) == ("redundant-copy", severity)
    assert judge(copied, STAND_INS, 30).code == "explicit"


def test_what_is_given_to_a_function_by_default_is_a_warning_where_it_is_the_same_in_each_call() -> None:
    given = hop_fields("cpu:0", "cpu:1", kind="arg", requested="cpu:1", producer_op="RealDiv", bytes=4096)
    again = dataclasses.replace(STAND_INS, repeated=frozenset({sent(given)}))
    told = [(cause.code, cause.severity) for cause in (judge(given, one, 30) for one in (STAND_INS, again))]
    assert told == [("default-device", "info"), ("default-device", "warning")]


@pytest.mark.parametrize(
    ("fields", "code", "severity"),
    [
        ({}, "redundant-copy", "warning"),
        ({"bytes": 8}, "host-upload", "info"),
        # Handed over in host memory whatever scope it was made in.
        ({"dtype": "int32"}, "host-upload", "info"),
    ],
    ids=["constant", "tiny", "int32"],
)
def test_a_constant_of_the_host_that_goes_with_each_call_is_a_needless_copy(
    fields: dict[str, Any], code: str, severity: str
) -> None:
    """Bug: told as Python's data, which it had long ceased to be, and as nothing to attend to."""
    known: dict[str, Any] = {"kind": "arg", "requested": "cpu:1", "producer_op": "Const", "bytes": 4096}
    captured = hop_fields("cpu:0", "cpu:1", **known | fields)
    again = dataclasses.replace(STAND_INS, repeated=frozenset({sent(captured)}))
    cause = judge(captured, again, 30)
    assert (cause.code, cause.severity) == (code, severity)
    assert judge(captured, STAND_INS, 30).code == "host-upload"  # made anew for each call


def test_evidence_says_what_was_judged_by() -> None:
    cause = judge(hop_fields("cpu:0", "cpu:1", requested="cpu:1", **MADE_BY_GRADIENT), STAND_INS, 30)
    assert cause.blames == "producer"
    assert cause.evidence.row() == {
        "requested": "cpu:1",
        "assigned": "cpu:1",
        "producer_requested": "",
        "src": "cpu:0",
        "dst": "cpu:1",
        "producer_forward_requested": "cpu:1",
        "default_device": "cpu:0",
    }


def test_evidence_of_a_called_copy_and_of_a_sum() -> None:
    call = judge(hop_fields("cpu:1", "cpu:2", facts={"copy_call": "copyto"}), STAND_INS, 30).evidence.row()
    assert call["call"] == "copyto"
    fields = hop_fields("cpu:2", "cpu:0", loc=9, facts={**KVSTORE, "summed_on": "cpu:0"})
    summed = judge(fields, REDUCED, 30).evidence.row()
    assert (summed["algorithm"], summed["summed_on"], summed["devices"]) == (
        "kvstore local",
        "cpu:0",
        ["cpu:1", "cpu:2"],
    )


def test_a_sentence_names_few_and_counts_many() -> None:
    assert [some_of(names, "ops") for names in ("", "a", "aab", "abc", "abcd", "abcde")] == [
        "",
        "a",
        "a and b",
        "a, b and c",
        "a, b, c and d",
        "a, b, c and 2 other ops",
    ]
    assert some_of("abc", "ways", ", ") == "a, b, c"
    assert some_of("abcde", "ways", ", ") == "a, b, c and 2 other ways"


def test_an_unknown_cause_says_what_is_known() -> None:
    fields = hop_fields("cpu:0", "cpu:1", kind="arg", producer_op="Add", facts={"x": 1, "y": ""})
    row = judge(fields, STAND_INS).evidence.row()
    assert (row["x"], row["argument_made_by"], "y" in row) == (1, "Add", False)


def test_every_rule_gives_a_known_code() -> None:
    assert {code for code, _, _ in RULES} <= set(SEVERITY)


def test_a_producer_without_a_request_stands_beside_the_op_that_placed_it() -> None:
    fields = hop_fields(
        "cpu:2", "cpu:1", requested="cpu:1", facts={"producer_colocated_with": "fc2_backward"}
    )
    cause = judge(fields, STAND_INS)
    assert (cause.code, cause.blames) == ("colocation", "producer")
    assert cause.evidence.row()["producer_placed_beside"] == "fc2_backward"


@pytest.mark.parametrize(
    ("op", "dtype", "severity"),
    [("Shape", "int32", "info"), ("StridedSlice", "int32", "info"), ("StridedSlice", "float32", "warning")],
)
def test_what_gpus_keep_in_host_memory_is_taken_from_a_stand_in_without_warning(
    op: str, dtype: str, severity: str
) -> None:
    """A batch's size is known to Python without asking the GPU; only a stand-in has it in its own memory."""
    fields = hop_fields("cpu:1", "cpu:0", kind="pull", producer_op=op, dtype=dtype, facts={"sync": "int"})
    context = Context(devices=frozenset({"cpu:0", "cpu:1"}), rounds=5, places_ops=True)
    assert judge(fields, context, 5, 1.0).severity == severity
    assert judge(fields, dataclasses.replace(context, places_ops=False), 5, 1.0).severity == "warning"


def test_what_a_function_returns_passes_the_default_device() -> None:
    """TensorFlow returns by an Identity that nobody placed: both hops have that cause; a bounce warns."""
    there = hop_fields("cpu:1", "cpu:0", op="Identity", assigned="cpu:0", graph=4, facts={"result": True})
    cause = judge(there, STAND_INS, 30)
    assert (cause.code, cause.severity, cause.blames) == ("default-device", "info", "consumer")
    assert cause.evidence.row()["result_of_a_call"] is True
    assert "inside the device scope of cpu:1" in (advice(cause.code, cause.evidence) or "")
    back = hop_fields("cpu:0", "cpu:1", op="_Retval", graph=4, facts={"producer_result": True})
    cause = judge(back, STAND_INS, 30)
    assert (cause.code, cause.severity, cause.blames) == ("default-device", "info", "producer")


def test_a_functions_result_that_passes_another_device_is_not_by_default() -> None:
    fields = hop_fields("cpu:0", "cpu:1", op="Identity", assigned="cpu:1", graph=4, facts={"result": True})
    assert judge(fields, STAND_INS, 30).code == "unknown"


def test_a_variable_that_several_devices_read_has_no_home_for_all_of_them() -> None:
    def said(code: str, **facts: Any) -> str | None:
        return advice(code, evidence(code, facts))

    read = said("variable-home", dst=["gpu:0", "gpu:1"]) or ""
    assert read.startswith("Several devices read it: keep a copy on each")
    apart = said("variable-home", dst=["gpu:0", "gpu:1"], one_reader_each=True) or ""
    assert apart.startswith("Create each variable on the device that reads it")
    rows = said("variable-home", dst="gpu:0", rows=True) or ""
    assert rows == "Create the table on gpu:0, where its rows are used, if it fits into that memory."
    assert said("default-device", result_of_a_call=True, result_of="a branch or loop") is None


def test_a_variable_that_a_strategy_keeps_for_its_replicas_is_the_strategys_to_change() -> None:
    facts = {"variable": "kernel", "kept_by": "CentralStorageStrategy"}
    cause = judge(hop_fields("cpu:0", "cpu:1", requested="cpu:1", facts=facts), STAND_INS, 30)
    told = advice(cause.code, cause.evidence) or ""
    assert cause.code == "variable-home"
    assert told.startswith("CentralStorageStrategy keeps its variables") and "MirroredStrategy" in told
    own = judge(hop_fields("cpu:0", "cpu:1", requested="cpu:1", facts={"variable": "kernel"}), STAND_INS, 30)
    assert "Strategy" not in (advice(own.code, own.evidence) or "")


def test_gradients_that_xla_hands_out_are_summed_on_the_host_too() -> None:
    """Nothing tells of them by themselves that they are gradients: the optimizer asked for their sum."""
    fields = hop_fields("cpu:2", "cpu:0", op="AddN", loc=9, graph=4, producer_op="PartitionedCall")
    (reduction,) = REDUCED.reductions
    asked = dataclasses.replace(REDUCED, reductions=[dataclasses.replace(reduction, gradients=True)])
    assert judge(fields, asked, 30).code == "reduce-on-host"
    assert judge(fields, REDUCED, 30).code == "collective"
