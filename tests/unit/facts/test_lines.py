"""What each line made the devices do, from the trace's rows."""

from __future__ import annotations

from typing import Any

import pytest

from app.diagnosis.judge import hop_table
from app.facts.collectives import collective_table
from app.facts.lines import SourceFile, Way, source_files, split_site
from app.facts.syncs import sync_table
from app.facts.tables import Tables
from app.store.totals import KeyTotals
from app.views.python_words import python_words
from probes.trace.rows import Graph, Key, Location, Node, Process
from tests.unit.traces import hop_fields


def location(number: int, path: str, line: int, root: str = "/src") -> Location:
    return Location(number, f"{path}:{line}", None, f"{root}/{path}", line, "main")


def process(**header: Any) -> Process:
    facts = {"root": "/src", "argv": ["train.py"]} | header
    return Process(0, 1, "p", "tensorflow", None, None, None, 0, 0, ["cpu:0"], {}, True, facts)


LOCATIONS = {
    1: location(1, "train.py", 10),
    2: location(2, "train.py", 20),
    3: location(3, "lib/model.py", 5),
    4: location(4, "lib/model.py", 5),
}
NODES = [
    Node(1, 0, "x", "_Arg", "", "cpu:1", 1, 0),
    Node(1, 1, "a", "MatMul", "", "cpu:1", 1, 0),
    Node(1, 2, "b", "MatMul", "", "cpu:1", 1, 0),
    Node(1, 3, "c", "Relu", "", "cpu:0", 1, 0),
    Node(1, 4, "d", "Sum", "", "cpu:1", 4, 0),
]


def files(*keys: Key, **parts: Any) -> list[SourceFile]:
    facts: dict[str, Any] = {"processes": [process()], "locations": LOCATIONS, "unseen": []}
    facts |= {"graphs": [Graph(1, "step", "f", 1, 0, None, 30)], "nodes_of": lambda graph: NODES}
    tables = Tables(keys=list(keys), **(facts | parts))
    return source_files(tables, hop_table(tables), sync_table(tables), collective_table(tables))


def hop(number: int, count: int | None = 30, **fields: Any) -> Key:
    return Key(number, "hop", hop_fields("cpu:1", "cpu:0", **fields), count)


def test_ops_stand_at_their_line_by_device() -> None:
    eager = Key(9, "op", {"op": "Add", "device": "cpu:1", "requested": "", "loc": 2}, 7)
    script, model = files(eager)
    assert (script.path, script.files, script.started) == ("train.py", ("/src/train.py",), True)
    assert (model.path, model.started) == ("lib/model.py", False)
    assert [(one.device, one.ops, one.types) for one in script.lines[10].ops] == [
        ("cpu:0", 1, (("Relu", 1),)),
        ("cpu:1", 2, (("MatMul", 2),)),
    ]
    assert script.lines[20].devices == ("cpu:1",)
    assert model.lines[5].ops[0].types == (("Sum", 1),)


def test_bytes_arrive_at_the_line_that_needs_them_and_leave_the_line_that_made_them() -> None:
    first = hop(1, loc=1, producer_loc=3, bytes=100)
    more = hop(2, loc=1, producer_loc=1, bytes=50)
    never = hop(3, 0, loc=2, producer_loc=3)
    script, model = files(first, more, never)
    at = script.lines[10]
    assert at.arriving == (Way("cpu:1", "cpu:0", 4500, 4500, 60, "estimated", "warning"),)
    assert at.leaving == ()  # what a line hands to itself has arrived already
    assert at.hops == {0, 1}
    assert 20 not in script.lines
    assert [(way.bytes_total, way.count) for way in model.lines[5].leaving] == [(3000, 30)]
    assert model.lines[5].hops == {0}


def test_what_is_not_known_is_a_lower_bound() -> None:
    script, *_ = files(hop(1, loc=1, bytes=100), hop(2, None, loc=1, bytes=70))
    (way,) = script.lines[10].arriving
    assert (way.bytes_total, way.bytes_known, way.count, way.basis) == (None, 3000, None, "unknown")


def test_waits_and_collectives_stand_at_their_line() -> None:
    sync = Key(5, "sync", {"device": "cpu:1", "kind": "numpy", "loc": 2, "basis": "measured"}, 3)
    fields = {
        "op": "all-reduce",
        "devices": ["cpu:1", "cpu:2"],
        "payload_bytes": 8,
        "wire_bytes": 16,
        "loc": 2,
    }
    totals = {5: KeyTotals(events=3, executions=3, dur_ns=900, first_ns=0, end_ns=1, timed=3)}
    script, *_ = files(sync, Key(6, "collective", fields, 30), totals=totals)
    line = script.lines[20]
    assert [(one.kind, one.count, one.wait_ns) for one in line.syncs] == [("numpy", 3, 900)]
    assert [(one.wire_bytes, one.count) for one in line.collectives] == [(16, 30)]


def test_the_heaviest_line_is_that_for_which_most_bytes_crossed() -> None:
    """GIVEN a line with most ops, one with more bytes, one that only waits and one with a collective."""
    sync = Key(5, "sync", {"device": "cpu:1", "kind": "numpy", "loc": 2, "basis": "measured"}, 3)
    assert files(sync)[0].heaviest == 10
    assert files(sync, hop(1, loc=2, bytes=4))[0].heaviest == 20
    fields = {"op": "AllReduce", "devices": ["cpu:1", "cpu:0"], "algorithm": "ring", "loc": 1}
    reduced = Key(7, "collective", fields | {"payload_bytes": 8, "wire_bytes": 16, "graph": 1}, 30)
    assert files(hop(1, loc=2, bytes=4), reduced)[0].heaviest == 10


def test_notes_of_a_file_come_with_it() -> None:
    told = [process(source_notes={"/src/train.py": "is not text", "/src/other.py": "x"}), process()]
    script, model = files(processes=told)
    assert script.notes == ("is not text",) and model.notes == ()


@pytest.mark.parametrize(
    ("site", "place"),
    [
        ("a/b.py:31", ("a/b.py", 31)),
        ("a:b.py:3", ("a:b.py", 3)),
        ("train.py", None),
        ("train.py:", None),
        (":3", None),
        ("train.py:\u0663", None),
        ("", None),
        (None, None),
    ],
)
def test_a_site_is_a_path_and_a_line(site: str | None, place: tuple[str, int] | None) -> None:
    assert split_site(site) == place


def test_python_is_told_apart_by_its_words() -> None:
    lines = ["def f(x):  # note", '    """Doc', '    more."""', '    return f"{x}" + 1']
    words = python_words(lines)
    assert [(lines[0][start:end], kind) for start, end, kind in words[0]] == [
        ("def", "keyword"),
        ("f", "name"),
        ("# note", "comment"),
    ]
    assert [kind for _, _, kind in words[1] + words[2]] == ["string", "string"]
    assert (words[2][0][:2], lines[2][: words[2][0][1]]) == ((0, len(lines[2])), lines[2])
    assert words[3][0][2] == "keyword" and words[3][-1][2] == "digits"


def test_what_is_not_python_stays_plain_from_there_on() -> None:
    words = python_words(["x = 1", "for ( :", "  '''", "open"])
    assert words[0] == [(4, 5, "digits")]
    assert len(words) == 4 and words[3] in ([], [(0, 4, "string")])
