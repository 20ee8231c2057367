"""What to do about a cause depends on what happened, not on its code alone."""

from __future__ import annotations

from typing import Any

import pytest

from app.diagnosis.causes.host_sync.cause import advice as of_reads
from app.diagnosis.findings import findings
from app.diagnosis.judge import hop_table
from app.diagnosis.registry import advice, summary
from app.diagnosis.wording.transfer_costs import Telling
from app.diagnosis.wording.transfer_words import TransferWords
from app.facts.tables import Tables
from probes.trace.rows import Key, Location
from tests.unit.evidence_records import evidence
from tests.unit.fixes.fix_cases import hop
from tests.unit.traces import hop_fields

READERS = ("cpu:1", "cpu:2")


@pytest.mark.parametrize(
    ("facts", "begins"),
    [
        ({"taken_by": "numpy"}, "Take the value every so many steps"),
        ({"taken_by": "numpy_function"}, "Write the function with TensorFlow's ops"),
        ({"taken_by": ["numpy", "train_on_batch"]}, "Each call of train_on_batch takes its losses"),
        (
            {"taken_by": "numpy", "handed_by": ["EagerPyFunc at t.py:3"]},
            "Write the function with TensorFlow's",
        ),
        (
            {"taken_by": "asnumpy", "handed_by": ["Custom argument at t.py:3"]},
            "Write the operator with MXNet's own ops",
        ),
    ],
)
def test_a_wait_that_the_code_needs_in_each_step_has_a_fix_of_its_own(
    facts: dict[str, Any], begins: str
) -> None:
    assert (advice("host-sync", evidence("host-sync", facts)) or "").startswith(begins)


def test_a_wait_that_reads_nothing_is_dropped() -> None:
    assert of_reads(evidence("host-sync", kind="waitall"), takes=False).startswith("Drop the wait")


def test_an_op_that_nobody_wrote_is_placed_by_the_scope_of_the_call() -> None:
    facts = {"own_op": "a function of custom gradients", "producer_default_device": "cpu:0"}
    for ends in ({"src": "cpu:1", "dst": "cpu:0"}, {"src": "cpu:0", "dst": "cpu:1"}):
        said = advice("default-device", evidence("default-device", facts | ends)) or ""
        assert said.startswith("Call the function inside the device scope of cpu:1")


def test_what_reads_a_cards_variable_without_a_scope_is_moved_and_not_the_variable() -> None:
    """Bug: the variable of a loaded model was to be created on the host, where a call without a scope ran."""
    facts = {"src": "cpu:2", "dst": "cpu:0", "lives_on": "cpu:2", "requested": ""}
    said = advice("variable-home", evidence("variable-home", facts)) or ""
    assert said.startswith("Run what reads it in the device scope of cpu:2, where the variable lives")
    for asked in ({"requested": "cpu:0"}, {"called_on": "cpu:0"}, {"src": "cpu:0", "dst": "cpu:2"}):
        assert (advice("variable-home", evidence("variable-home", facts | asked)) or "").startswith(
            "Create the variable on"
        )


@pytest.mark.parametrize(
    ("tensors", "apart"), [(("shard0", "shard1"), True), (("table", "table"), None)], ids=["shards", "shared"]
)
def test_variables_with_a_reader_each_are_told_from_one_that_several_read(
    tensors: tuple[str, str], apart: bool | None
) -> None:
    facts = [
        {"facts": {"variable": name}, "requested": dst} for name, dst in zip(tensors, READERS, strict=True)
    ]
    keys = [
        Key(number, "hop", hop_fields("cpu:0", dst, loc=3, **fields), 20)
        for number, (dst, fields) in enumerate(zip(READERS, facts, strict=True), 1)
    ]
    sites = {3: Location(3, "train.py:3", None, "/train.py", 3, "main")}
    run = Tables([], sites, [], keys, [])
    (found,) = findings(hop_table(run), [], [], telling=Telling(20, "call"))
    assert (found.code, found.evidence.row().get("one_reader_each")) == ("variable-home", apart)


@pytest.mark.parametrize(
    ("code", "one", "several"),
    [
        ("colocation", "Sub at t.py:3 is kept beside", "Sub, Mul at t.py:3 are kept beside"),
        (
            "default-device",
            "Sub at t.py:3 has no device scope and runs on",
            "Sub, Mul at t.py:3 have no device",
        ),
        ("no-kernel", "Sub at t.py:3 has no kernel", "Sub, Mul at t.py:3 have no kernel"),
    ],
)
def test_several_ops_are_told_of_in_the_plural(code: str, one: str, several: str) -> None:
    """Bug: "AssignAddVariableOp, AssignSubVariableOp is kept beside"."""
    first = hop(code, site="t.py:3")
    for consumers, begins in (("Sub", one), ("Sub, Mul", several)):
        known = evidence(code)
        assert summary(code, TransferWords([first], consumers, known), known).startswith(begins)


def test_a_line_that_takes_every_step_of_a_way_is_told_to_leave_the_stop_out() -> None:
    way = {"stations": ["gpu:0", "cpu:0", "gpu:1"], "lines": ["t.py:5", "t.py:5"]}
    by_code = advice("bounce", evidence("bounce", way, by=["Identity"]))
    assert by_code is not None and by_code.endswith("leave the stop between out of what it is told to go by.")
    by_python = advice("bounce", evidence("bounce", way, by=["Python"]))
    assert by_python is not None and "every step" not in by_python
