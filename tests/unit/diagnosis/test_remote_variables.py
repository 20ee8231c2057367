"""What changes a variable that lives far from where it is read goes there too: one mistake, one finding."""

from __future__ import annotations

from typing import Any

import pytest

from app.diagnosis.findings import run_findings
from app.diagnosis.judge import hop_table
from app.facts.tables import Tables
from app.judgments.finding import Finding
from probes.trace.rows import Key, Location
from tests.unit.traces import hop_fields

LOCATIONS = {n: Location(n, f"gan.py:{n}", None, "/src/gan.py", n, "step") for n in (14, 19, 56, 57)}
STEPS = Key(90, "mark", {"name": "step"}, 30)
UPDATE = Key(91, "op", {"op": "AssignSubVariableOp", "device": "cpu:0", "loc": 57}, 30)


def read(number: int, shape: str = "256x128", name: str = "w") -> Key:
    fields: dict[str, Any] = {
        "op": "MatMul",
        "producer_op": "ReadVariableOp",
        "requested": "cpu:2",
        "loc": 19,
    }
    fields |= {"producer_loc": 19, "variable_loc": 14, "facts": {"variable": name}, "graph": 1}
    size = {"shape": shape, "tensor": f"{name}_{shape}", "bytes": 4096}
    return Key(number, "hop", hop_fields("cpu:0", "cpu:2", **fields, **size), 30)


def applied(number: int, shape: str = "256x128", **more: Any) -> Key:
    """A gradient, made on cpu:2, that the optimizer takes without a scope."""
    fields: dict[str, Any] = {"op": "IdentityN", "producer_op": "AddN", "loc": 57, "producer_loc": 56}
    fields |= {"producer_requested": "cpu:2", "assigned": "cpu:0", "shape": shape, "graph": 1, "bytes": 4096}
    return Key(number, "hop", hop_fields("cpu:2", "cpu:0", **fields | more), 30)


def beside(number: int, shape: str = "256x128", name: str = "w", **more: Any) -> Key:
    """What an op that is kept beside the variable takes from cpu:2."""
    fields: dict[str, Any] = {
        "op": "AssignSubVariableOp",
        "producer_op": "Mul",
        "loc": 57,
        "producer_loc": 57,
    }
    fields |= {"producer_requested": "cpu:2", "requested": "cpu:2", "assigned": "cpu:0", "shape": shape}
    facts = {"colocated_with": name}
    return Key(number, "hop", hop_fields("cpu:2", "cpu:0", **fields | more, graph=1, facts=facts), 30)


def told(*keys: Key) -> list[Finding]:
    run = Tables([], LOCATIONS, [], [*keys, STEPS], [])
    return run_findings(run, hop_table(run), [])


def test_gradients_that_come_to_far_variables_are_told_with_these() -> None:
    """Bug: the line that applies them was told to lack a scope, which only renamed the transfer."""
    (one,) = told(read(1), read(2, "128"), applied(3), applied(4, "128"), UPDATE)
    assert (one.code, one.hops, one.consequences) == ("variable-home", (0, 1), (2, 3))
    assert one.summary.endswith("each step, with what goes there to change them.")
    assert one.evidence.row()["changed_at"] == ["gan.py:57"]
    (other,) = told(read(1), beside(2))
    assert (other.code, other.consequences) == ("variable-home", (1,))
    assert "changed_at" not in other.evidence.row()


@pytest.mark.parametrize(
    "keys",
    [
        (read(1), applied(3)),
        (read(1), applied(3, "64x1"), UPDATE),
        (read(1), applied(3, op="Mul", loc=56), UPDATE),
        (read(1), beside(3, name="b")),
        (read(1), beside(3, "128")),
        (Key(1, "hop", read(1).fields, 30), Key(3, "hop", beside(3).fields, 120)),
    ],
    ids=[
        "changes-nothing",
        "another-shape",
        "another-line",
        "another-variable",
        "another-of-the-name",
        "written-more-often",
    ],
)
def test_what_may_have_another_reason_is_told_by_itself(keys: tuple[Key, ...]) -> None:
    found = told(*keys)
    assert len(found) == 2 and not any(one.consequences for one in found)


def test_a_line_that_changes_variables_of_the_card_too_lacks_the_scope_itself() -> None:
    facts = {"colocated_with": "v"}
    fields: dict[str, Any] = {
        "op": "AssignSubVariableOp",
        "producer_op": "Mul",
        "loc": 57,
        "producer_loc": 57,
    }
    back = Key(5, "hop", hop_fields("cpu:0", "cpu:2", **fields, facts=facts, graph=1), 30)
    codes = {one.code: one.consequences for one in told(read(1), applied(3), back, UPDATE)}
    assert codes == {"variable-home": (), "default-device": (2,)}
