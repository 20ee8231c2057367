"""The schema of a trace: whole in itself, the same as its page, and strict with what is recorded."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from app.store.parse import EVENT_SCHEMA
from app.store.schemas import EDGES, GRAPHS, KEYS, NODES
from app.store.totals import KeyTotals
from benchmarks import trace_format
from probes.trace import schema
from tests.trace_schema import of_record, undeclared
from tests.unit.traces import Trace, hop_fields

PAGE = Path(__file__).parents[2] / "docs" / "trace-format.md"
HOP = hop_fields("cpu:0", "cpu:1")


def test_the_page_is_what_the_schema_says() -> None:
    """Where this fails: python -m benchmarks.trace_format > docs/trace-format.md"""
    assert PAGE.read_text() == trace_format.page()


def test_every_field_has_a_meaning() -> None:
    assert "|  |\n" not in trace_format.page()


def test_the_names_of_the_kinds_are_those_of_their_declarations() -> None:
    assert get_args(schema.KindName) == tuple(schema.KINDS)
    assert get_args(schema.KeyFields) == tuple(schema.KINDS.values())


def test_a_name_has_one_type_in_all_kinds() -> None:
    """Readers check fields by their name."""
    types: dict[str, set[Any]] = {}
    for fields in schema.KINDS.values():
        for name, hint in get_type_hints(fields).items():
            types.setdefault(name, set()).add(str(hint).replace("typing.Optional[", "").rstrip("]"))
    assert {name: found for name, found in types.items() if len(found) > 1} == {}


def test_tables_have_the_columns_of_their_records() -> None:
    assert EVENT_SCHEMA.names == ["kind", "ts_ns", "dur_ns", "key", "count", "step", "value", "thread"]
    assert NODES.names == ["graph", "node", "name", "op", "requested", "assigned", "loc", "forward_loc"]
    assert EDGES.names == ["graph", "src_node", "src_slot", "dst_node", "dst_slot", "bytes", "dtype", "shape"]
    assert GRAPHS.names == ["id", "name", "function", "loc", "step_marks", "partial", "calls"]
    assert [str(EVENT_SCHEMA.field(name).type) for name in ("kind", "step")] == ["string", "int64"]
    numbers = [field.name for field in KEYS if str(field.type) == "int64"]
    assert numbers[:7] == ["id", "process", "count", "bytes", "graph", "per_call", "loc"]
    assert numbers[7:] == [field.name for field in dataclasses.fields(KeyTotals)]


@pytest.mark.parametrize(
    ("row", "wrong"),
    [
        (["S", 1, "text"], []),
        (["Q", 1], ["Q: a record of 2 items"]),
        (["S", 1], ["S: a record of 2 items"]),
        (["N", 1, 1, "relu", 2, 0, 3, 0, 0], ["N.name: str"]),
        (["E", 1, 1, 0, 2, 0, None, 1, 2], []),
        (["G", 1, {"name": "f", "function": "f", "loc": 0, "step_marks": 0, "partial": None}], []),
        (["K", 1, "hop", HOP], []),
        (["K", 1, "hop", HOP | {"scope_locs": 1}], ["hop.scope_locs is not declared"]),
        (["K", 1, "hop", HOP | {"facts": {"varable": "w"}}], ["hop.facts.varable is not declared"]),
        (["K", 1, "hop", HOP | {"loc": None}], ["hop.loc: NoneType"]),
        (["K", 1, "mark", {}], ["mark.name is missing"]),
        (["K", 1, "telepathy", {}], ["K: a key of kind telepathy"]),
        (["I", 1, {"devices": ["cpu:0"], "host_copy": {"bytes": 1, "ns": "2"}}], ["I.host_copy.ns: str"]),
        (["e", "op", 1, 1, 1, 1, None, None, 7], []),
    ],
)
def test_what_is_not_declared_is_found(row: list[Any], wrong: list[str]) -> None:
    assert list(of_record(row)) == wrong


def test_a_trace_is_compared_with_the_schema(tmp_path: Path) -> None:
    trace = Trace(tmp_path)
    trace.key("kept", op="zeros", loc=trace.location("a.py:1"), how="used", why="odd")
    missing = {"ppid", "python", "argv", "root"}
    assert {*undeclared(tmp_path)} == {f"H.{name} is missing" for name in missing} | {
        "kept.why is not declared"
    }
