"""Why a finding has its code, in a sentence."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest

from app.diagnosis.detectors.transfer_findings import of_hops
from app.diagnosis.registry import BY_CODE, because
from app.diagnosis.wording.evidence_labels import LABELS
from app.diagnosis.wording.transfer_costs import Telling
from app.judgments.evidence import Record
from app.judgments.finding import Finding
from tests.unit.evidence_records import evidence
from tests.unit.fixes.fix_cases import hop


def records(kind: type[Record] = Record) -> Iterator[type[Record]]:
    """A record and all that are built on it."""
    yield kind
    for one in kind.__subclasses__():
        yield from records(one)


DECLARED = {field.name for kind in records() for field in dataclasses.fields(kind)}


@pytest.mark.parametrize(
    ("code", "facts", "told"),
    [
        (
            "explicit",
            {"requested": "cpu:2", "producer_requested": "cpu:1", "scope": "t.py:4"},
            "Requested: cpu:1 for the producer, cpu:2 (the scope opened at t.py:4) for the consumer.",
        ),
        ("explicit", {"call": "copyto"}, ""),
        (
            "bounce",
            {"causes": ["unknown", "default-device"]},
            "Nothing changed its values on the way; each hop by itself: default-device.",
        ),
        ("explicit", {}, ""),
        (
            "default-device",
            {"default_device": "gpu:0", "src": "gpu:1", "producer_scope": "t.py:4"},
            "No device was requested here, so it got the default, gpu:0; its input was made on gpu:1 (the"
            " scope opened at t.py:4).",
        ),
        (
            "default-device",
            {"producer_default_device": "gpu:0", "requested": "gpu:1"},
            "No device was requested for the producer, so it got the default, gpu:0; its consumer was"
            " requested on gpu:1.",
        ),
        (
            "gradient-outside-scope",
            {"forward_requested": ["gpu:1", "gpu:2"], "default_device": "gpu:0", "forward_at": "t.py:3"},
            "The forward ops at t.py:3 were requested on gpu:1 and gpu:2; their gradients were requested"
            " nowhere and got the default, gpu:0.",
        ),
        (
            "gradient-outside-scope",
            {"forward_requested": "gpu:1", "called_on": "gpu:2", "forward_op": "MatMul (up/MatMul)"},
            "The forward ops were requested on gpu:1; their gradients were requested nowhere and run where "
            "the function is called, gpu:2.",
        ),
        (
            "explicit",
            {
                "producer_requested": "gpu:1",
                "requested": "gpu:2",
                "producer_scope_opener": "tensorflow/python/distribute/mirrored_run.py:run",
                "scope_opener": "keras/src/layers/layer.py:f",
            },
            "Requested: gpu:1 (tf.distribute's own scope: each replica's step runs on the replica's device)"
            " for the producer, gpu:2 (Keras' own scope) for the consumer.",
        ),
        (
            "host-memory",
            {"kept_in_host_memory": "argument", "dtype": "int32", "handed_over": True, "lay_on": "cpu:1"},
            "A tf.function takes and returns tensors of type int32 in host memory, whichever devices made "
            "them or use them. This one lay on cpu:1. What a GPU made is copied to the host for the call, "
            "and back for an op on a GPU.",
        ),
        (
            "variable-home",
            {"rows": True, "lives_on": "cpu:0", "requested": "gpu:0"},
            "The variable lives on cpu:0; what reads it was requested on gpu:0.",
        ),
        (
            "missing-device",
            {"missing": "gpu:1", "ran_on": "cpu:0", "scope": "t.py:9", "asked_in": "t.py:4"},
            "Requested: gpu:1 (the scope opened at t.py:4); the runtime has no such device and placed it on"
            " cpu:0.",
        ),
        (
            "host-memory",
            {"kept_in_host_memory": "argument", "device": "gpu:0", "dtype": "int32"},
            "The kernel on gpu:0 keeps this argument of type int32 in host memory.",
        ),
        (
            "colocation",
            {"colocated_with": "table", "requested": "gpu:0"},
            "It stands in one colocation group with table. Requested: gpu:0.",
        ),
        (
            "host-sync",
            {"src": "cpu:1", "made_by": ["Sum at t.py:3"], "idle_meanwhile": ["cpu:2 90 % of it (inferred)"]},
            "It was made on cpu:1 by Sum at t.py:3. While Python waits for a value it gives out no work;"
            " meanwhile without work: cpu:2 90 % of it (inferred).",
        ),
        (
            "host-sync",
            {"src": "cpu:1", "made_by": ["_copyto at t.py:3"], "brought_at": ["metric.py:4"]},
            "It was made on cpu:1 by _copyto at t.py:3. What came to the host at metric.py:4 goes into"
            " it, once its device has made that. While Python waits for a value it gives out no work.",
        ),
        (
            "host-sync",
            {"src": "cpu:1", "handed_by": ["Custom argument at t.py:3"], "made_by": ["Sum at t.py:4"]},
            "It was made on cpu:1 by Sum at t.py:4. It lay on cpu:1 and was handed over by Custom argument "
            "at t.py:3. While Python waits for a value it gives out no work.",
        ),
        (
            "host-sync",
            {"src": "cpu:1", "handed_by": ["Custom argument at t.py:3"], "idle_meanwhile": ["cpu:2"]},
            "It lay on cpu:1 and was handed over by Custom argument at t.py:3. A thread of MXNet's own runs "
            "the operator and waits for its inputs; the program's own code goes on.",
        ),
        (
            "host-sync",
            {"src": "cpu:1", "made_by": ["Cast at t.py:3"], "taken_by": "numpy_function"},
            "It was made on cpu:1 by Cast at t.py:3. In each call the graph waits while the Python function"
            " works on the host.",
        ),
        (
            "variable-home",
            {"lives_on": "cpu:0", "requested": "cpu:1", "scope": "t.py:4", "dst": "cpu:1"},
            "The variable lives on cpu:0; what reads it was requested on cpu:1 (the scope opened at t.py:4).",
        ),
        (
            "variable-home",
            {"lives_on": "cpu:0", "requested": "", "dst": "cpu:1", "kept_by": "CentralStorageStrategy"},
            "The variable lives on cpu:0, where CentralStorageStrategy keeps it; what reads it runs on "
            "cpu:1.",
        ),
        (
            "variable-home",
            {"lives_on": "cpu:0", "requested": "cpu:1", "dst": "cpu:1", "variable": ["mean", "Variable"]}
            | {"created_at": ["r.py:8", "r.py:9"], "object_made_at": "t.py:13"},
            "The variables live on cpu:0, created at r.py:8 and r.py:9; what reads them was requested on "
            "cpu:1.",
        ),
        (
            "mixed-context",
            {"inputs_also_on": ["cpu:0"], "inputs_made_by": ["Python"], "inputs_made_at": ["t.py:3"]},
            "Inputs on cpu:0 were made by Python data at t.py:3. An array that is made without a context lies"
            " on the current one, cpu(0) by default.",
        ),
        ("mixed-context", {"inputs_also_on": ["cpu:0"]}, ""),
        (
            "redundant-copy",
            {"same_device": "cpu:1", "call": "copyto"},
            "The array is on cpu:1 already, and copyto makes another there.",
        ),
        (
            "redundant-copy",
            {"sent_again": "in each call", "src": "cpu:1", "dst": "cpu:2", "producer_scope": "t.py:4"}
            | {"requested": "cpu:2"},
            "The tensor, the same in each call, lies on cpu:1 (the scope opened at t.py:4); what takes it was"
            " requested on cpu:2, and a copy lasts for one call only.",
        ),
        (
            "redundant-copy",
            {"sent_again": "in each call", "src": "cpu:1", "dst": "cpu:0", "requested": ""},
            "The tensor, the same in each call, lies on cpu:1; what takes it runs on cpu:0, and a copy lasts"
            " for one call only.",
        ),
        (
            "explicit",
            {"requested": "cpu:0", "scope": "t.py:4", "result_on": "cpu:1"},
            "Requested: cpu:0 (the scope opened at t.py:4); a function made what is taken there on cpu:1.",
        ),
        (
            "xla-opaque",
            {"requested_inside": ["cpu:1", "cpu:2"], "ran_on": ["cpu:1"]},
            "Requested inside: cpu:1 and cpu:2; XLA makes one kernel of it all, which runs on cpu:1.",
        ),
        (
            "replica-drift",
            {"checks": 4, "first_check_step": 1, "last_check_step": 8, "trainer_made_at": "t.py:9"},
            "The replicas' parameters were compared 4 times, after 1 to 8 steps, and nothing was seen to "
            "exchange gradients between them.",
        ),
        ("host-sync", {"kind": "waitall"}, "While Python waits for a value it gives out no work."),
        (
            "host-upload",
            {"dst": "cpu:1", "scope": "t.py:4"},
            "What takes it runs on cpu:1 (the scope opened at t.py:4); until then it was Python's or numpy's"
            " memory.",
        ),
        (
            "reduce-on-host",
            {
                "algorithm": "kvstore local, summed on cpu:0",
                "summed_on": "cpu:0",
                "devices": ["cpu:1", "cpu:2"],
            },
            "Exchanged among cpu:1 and cpu:2 by kvstore local, summed on cpu:0.",
        ),
        (
            "collective",
            {
                "algorithm": ["kvstore device, summed on cpu:1", "kvstore device"],
                "summed_on": ["cpu:1", None],
                "devices": ["cpu:1", "cpu:2"],
                "exchanged": ["gradients", "weights"],
                "exchanged_of": "dense0_weight",
            },
            "Exchanged among cpu:1 and cpu:2 by kvstore device, summed on cpu:1: gradients and weights of"
            " dense0_weight.",
        ),
        (
            "reduce-on-host",
            {"algorithm": "ring", "devices": [["w:0/cpu:1", "w:0/cpu:2"], ["w:1/cpu:1", "w:1/cpu:2"]]},
            "Exchanged among w:0/cpu:1 and w:0/cpu:2, and among w:1/cpu:1 and w:1/cpu:2 by ring.",
        ),
        (
            "unknown",
            {"requested": "cpu:1", "producer_requested": ""},
            "Known: requested cpu:1 for the consumer.",
        ),
        (
            "replica-drift",
            {"checks": 4, "first_check_updates": 1, "last_check_updates": 8, "variables_made_at": "t.py:3"},
            "The replicas' parameters were compared 4 times, after 1 to 8 updates of each, and nothing was "
            "seen to exchange gradients between them.",
        ),
    ],
)
def test_evidence_is_told_in_a_sentence(code: str, facts: dict[str, Any], told: str) -> None:
    assert because(Finding(code, "warning", "t.py:9", "", evidence(code, facts), None, ())) == told


def test_each_label_is_of_a_fact_that_evidence_has() -> None:
    """A name that no record has would be shown nowhere."""
    for code in BY_CODE:
        assert BY_CODE[code].labels.keys() <= DECLARED
    assert LABELS.keys() <= DECLARED


def test_transfers_that_differ_have_each_value_in_one_list() -> None:
    """GIVEN hops of one line, one of them without a variable's name, THEN the finding lists both."""
    read = {"lives_on": "gpu:0", "rows": True}
    rows = [
        hop("variable-home", site="t.py:3", count=8, evidence=read | more) for more in ({"variable": "w"}, {})
    ]
    known = of_hops([0, 1], rows, rows, [], Telling(8, "step")).evidence.row()
    assert (known["lives_on"], known["variable"], known["rows"]) == ("gpu:0", ["w", None], True)
    assert (known["transfers"], known["bytes"]) == (16, 64)
