"""Variables that one line made in the wrong scope: told once where the same lines read them all."""

from __future__ import annotations

from typing import Any

import pytest

from app.diagnosis.findings import run_findings
from app.diagnosis.judge import hop_table
from app.facts.tables import Tables
from probes.trace.rows import Key, Location
from tests.unit.traces import hop_fields

LOCATIONS = {n: Location(n, f"lion.py:{n}", None, "/src/lion.py", n, "step") for n in (22, 23, 27, 29)}
LOCATIONS |= {n: Location(n, f"lion.py:{n}", None, "/src/lion.py", n, "__init__") for n in (5, 40)}
STEPS = Key(90, "mark", {"name": "step"}, 15)


def read(number: int, line: int, size: int, dst: str = "cpu:1", made: int = 22, **more: Any) -> Key:
    fields: dict[str, Any] = {"op": "Mul", "producer_op": "ReadVariableOp", "requested": dst, "loc": line}
    fields |= {
        "bytes": size,
        "shape": f"{size}",
        "variable_loc": made,
        "graph": 1,
        "tensor": f"read_{number}",
    }
    fields |= {"facts": {"variable": "Variable"}, "producer_loc": line}
    return Key(number, "hop", hop_fields("cpu:0", dst, **fields | more), 15)


def told(*keys: Key) -> list[tuple[str, str | None, Any]]:
    run = Tables([], LOCATIONS, [], [*keys, STEPS], [])
    found = run_findings(run, hop_table(run), [])
    return [(one.code, one.site, one.evidence.row().get("also_at")) for one in found]


def test_slots_that_a_loop_reads_at_two_lines_are_one_mistake() -> None:
    """Bug: each line had a warning of its own, with one and the same change."""
    loop = [read(1, 27, 4096), read(2, 27, 512), read(3, 29, 4096), read(4, 29, 512)]
    assert told(*loop) == [("variable-home", "lion.py:27", ["lion.py:29"])]


def test_of_eager_reads_of_one_shape_the_count_tells_that_they_are_several() -> None:
    twice = [
        Key(key.id, "hop", key.fields | {"graph": 0}, 30) for key in (read(1, 27, 4096), read(2, 29, 4096))
    ]
    assert told(*twice) == [("variable-home", "lion.py:27", ["lion.py:29"])]


def test_objects_of_one_kind_that_a_line_reads_are_one_mistake_whichever_lines_make_them() -> None:
    """Bug: the class of all layers was told, and none of the calls that made some of them without a scope."""
    made: dict[str, Any] = {"made": 40}
    layers = [
        read(1, 27, 4096, **made, variable_call_loc=22),
        read(2, 27, 512, **made, variable_call_loc=23),
        read(3, 29, 512, **made, variable_call_loc=23),
    ]
    run = Tables([], LOCATIONS, [], [*layers, STEPS], [])
    (one,) = run_findings(run, hop_table(run), [])
    assert (one.site, one.evidence.row()["also_at"]) == ("lion.py:27", ["lion.py:29"])
    assert one.evidence.row()["object_made_at"] == ["lion.py:22", "lion.py:23"]
    assert one.evidence.row()["object_made_at"] == ["lion.py:22", "lion.py:23"]
    # One of another kind, one that another card reads, one that no line reads too: mistakes of their own.
    for other in (
        read(4, 27, 512, made=5, variable_call_loc=23),
        read(4, 27, 512, "cpu:2", **made, variable_call_loc=23),
        read(4, 29, 512, **made, variable_call_loc=23),
    ):
        assert len(told(layers[0], other)) == 2


@pytest.mark.parametrize(
    "others",
    [
        (read(1, 27, 4096), read(3, 29, 4096)),
        (read(1, 27, 4096), read(2, 27, 512), read(3, 29, 4096), read(4, 29, 1024)),
        (read(1, 27, 4096), read(2, 27, 512), read(3, 29, 4096, made=23), read(4, 29, 512, made=23)),
        (read(1, 27, 4096), read(2, 27, 512), read(3, 29, 4096, "cpu:2"), read(4, 29, 512, "cpu:2")),
        tuple(
            read(number, line, size, producer_op="ResourceGather")
            for number, (line, size) in enumerate([(27, 4096), (27, 512), (29, 4096), (29, 512)], 1)
        ),
    ],
    ids=["a-table-a-line", "other-shapes", "made-elsewhere", "another-card", "rows"],
)
def test_what_may_be_other_variables_is_told_by_line(others: tuple[Key, ...]) -> None:
    apart = sorted((site, also) for _, site, also in told(*others))
    assert apart == [("lion.py:27", None), ("lion.py:29", None)]
