"""Why a finding has its code, in a sentence."""

from __future__ import annotations

from typing import Any

import pytest

from app.analysis.evidence import because
from app.analysis.finding import Finding


@pytest.mark.parametrize(
    ("code", "evidence", "told"),
    [
        (
            "explicit",
            {"requested": "cpu:2", "producer_requested": "cpu:1", "scope": "t.py:4"},
            "Requested: cpu:1 for the producer, cpu:2 (the scope opened at t.py:4) for the consumer.",
        ),
        ("explicit", {"call": "copyto"}, "The code calls copyto."),
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
            "missing-device",
            {"missing": "gpu:1", "ran_on": "cpu:0", "scope": "t.py:4"},
            "Requested: gpu:1 (the scope opened at t.py:4); the runtime has no such device and placed it on"
            " cpu:0.",
        ),
        (
            "host-memory",
            {"kept_in_host_memory": "argument", "device": "gpu:0", "dtype": "int32"},
            "The kernel on gpu:0 takes this argument of type int32 in host memory.",
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
            "reduce-on-host",
            {"algorithm": "ring", "devices": [["w:0/cpu:1", "w:0/cpu:2"], ["w:1/cpu:1", "w:1/cpu:2"]]},
            "Exchanged among w:0/cpu:1 and w:0/cpu:2, and among w:1/cpu:1 and w:1/cpu:2 by ring.",
        ),
        (
            "unknown",
            {"requested": "cpu:1", "producer_requested": ""},
            "Known: requested cpu:1 for the consumer.",
        ),
        ("replica-drift", {"devices": ["cpu:1"]}, ""),
    ],
)
def test_evidence_is_told_in_a_sentence(code: str, evidence: dict[str, Any], told: str) -> None:
    assert because(Finding(code, "warning", "t.py:9", "", evidence, None, ())) == told
