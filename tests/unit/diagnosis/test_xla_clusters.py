"""What XLA compiled is told first, and is a warning only where it did other than the code asks."""

from __future__ import annotations

from typing import Any

from app.diagnosis.findings import run_findings
from app.facts.tables import Tables
from probes.trace.rows import RUNTIMES_GRAPHS, Key, Location, Unseen

LOCATIONS = {
    1: Location(1, "train.py:6", None, "/src/train.py", 6, "<module>"),
    2: Location(2, "train.py:30", None, "/src/train.py", 30, "<module>"),
}
UNSEEN = Unseen("ops inside step", 20, "compiled by XLA (jit_compile): ops have no placement of their own")


def tables(*keys: Key, **parts: Any) -> Tables:
    facts: dict[str, Any] = {"processes": [], "locations": LOCATIONS, "graphs": [], "unseen": [UNSEEN]}
    return Tables(keys=list(keys), **(facts | parts))


def compiled(number: int, count: int = 5, **fields: Any) -> Key:
    facts = {"function": "step", "ops": 4, "asked": ["cpu:1", "cpu:2"], "devices": ["cpu:0"]}
    facts |= {"how": "jit_compile", "loc": 1, "called_loc": 2}
    return Key(number, "opaque", facts | fields, count)


def test_scopes_that_xla_did_not_follow_are_a_warning_at_the_line_that_asks_for_xla() -> None:
    run = tables(compiled(1), Key(9, "mark", {"name": "step"}, 5))
    (found,) = run_findings(run, [], [])
    # What went unseen in it is told by it, and counted.
    assert found.evidence.row()["op_executions_not_seen"] == 20
    assert (found.code, found.severity, found.site, found.recurs) == (
        "xla-opaque",
        "warning",
        "train.py:6",
        True,
    )
    assert found.summary == (
        "4 ops of step at train.py:6 are compiled by XLA and run as one on cpu:0, 5\u00d7: where each would"
        " be placed, and what crosses inside, cannot be seen; the code inside asks for cpu:1 and cpu:2, which"
        " was not followed."
    )
    assert found.fix is not None and "jit_compile=False" in found.fix
    assert found.evidence.row()["called_at"] == ["train.py:30"]


def test_a_cluster_that_nobody_asked_to_spread_is_a_note() -> None:
    (found,) = run_findings(tables(compiled(1, asked=["cpu:0"])), [], [])
    assert (found.severity, found.evidence.row()["not_followed"]) == ("info", [])
    by_itself = compiled(1, how="auto-clustering", ops=None, asked=[], loc=2)
    (found,) = run_findings(tables(by_itself), [], [])
    assert found.summary.startswith("A part of step at train.py:30 is compiled by XLA's auto-clustering")


def test_calls_of_one_function_from_several_lines_are_one_finding() -> None:
    run = tables(compiled(1), compiled(2, called_loc=1, count=3))
    (found,) = run_findings(run, [], [])
    assert found.evidence.row()["calls"] == 8
    assert found.evidence.row()["called_at"] == ["train.py:30", "train.py:6"]


def test_what_belongs_to_no_function_of_the_program_stands_last_as_a_note() -> None:
    graphs = Unseen(RUNTIMES_GRAPHS, 2, "made by the runtime itself")
    elsewhere = Unseen("ops inside other, called in step", 9, "one op; counted once a trace")
    first, xla, last = run_findings(tables(compiled(1), unseen=[graphs, UNSEEN, elsewhere]), [], [])
    assert (first.unseen, xla.unseen, last.unseen) == (True, False, False)
    assert first.summary == (
        "Not seen: ops inside other, called in step (9 ops): one op; counted once a trace."
    )
    assert (last.severity, last.fix) == ("info", None)
    assert last.summary == "2 graphs that the runtime made by itself, of no function of the program."


def test_a_cluster_of_which_only_its_absence_is_known_stays_a_warning() -> None:
    """Runs of earlier recorders say no more than what was not seen."""
    (found,) = run_findings(tables(), [], [])
    assert (found.code, found.severity, found.site) == ("xla-opaque", "warning", None)


def test_a_graph_that_could_not_be_read_was_not_compiled() -> None:
    """GIVEN a reason that quotes attributes, XLA's among them WHEN told THEN as unknown, without advice."""
    quoted = "its placed graph can't be read: ValueError: {{node a}} = A[_XlaHasReferenceVars=false]()"
    (found,) = run_findings(tables(unseen=[Unseen("ops inside step", 20, quoted)]), [], [])
    assert (found.code, found.severity, found.fix, found.unseen) == ("unknown", "info", None, True)
    assert found.summary == f"Not seen: ops inside step (20 executions of ops): {quoted}."
