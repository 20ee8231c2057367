"""Whether a finding is gone after a change, and what both runs cost."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import pytest

from app.diagnosis.findings import run_findings
from app.diagnosis.judge import hop_table
from app.diagnosis.verification import Judged, StepTime, changed_sites, line_map, verify
from app.facts.syncs import sync_table
from app.facts.tables import Tables
from app.judgments.finding import Finding
from app.store.totals import KeyTotals
from app.web.run import verify_words
from probes.trace.rows import Event, Key, Location, Process, Unseen
from tests.unit.evidence_records import evidence
from tests.unit.traces import hop_fields

BEFORE = "a\nb\nloss = float(x)\nc\n"
AFTER = "a\nnew\nb\nc\n"


def run(*keys: Key, lines: tuple[int, ...] = (3,), **totals: KeyTotals) -> Judged:
    locations = {n: Location(n, f"train.py:{n}", None, "/src/train.py", n, "main") for n in range(1, 20)}
    marks = Key(90, "mark", {"name": "step"}, 10)
    sums = {90: KeyTotals(10, 10, 0, 0, None, 1000, 19_000)} | {
        int(name[1:]): value for name, value in totals.items()
    }
    tables = Tables([], locations, [], [*keys, marks], [], sums)
    hops, syncs = hop_table(tables), sync_table(tables)
    return Judged(tables, hops, syncs, run_findings(tables, hops, syncs))


def pull(loc: int, count: int = 10, **fields: Any) -> Key:
    facts: dict[str, Any] = {"kind": "pull", "op": "Python", "loc": loc, "facts": {"sync": "float"}}
    return Key(loc, "hop", hop_fields("cpu:1", "cpu:0", bytes=1000, **facts, **fields), count)


@pytest.mark.parametrize(("line", "became"), [(1, {1}), (2, {3}), (3, set()), (4, {4}), (40, set())])
def test_lines_are_followed_through_an_edit(line: int, became: set[int]) -> None:
    """GIVEN a line that an edit removed THEN it became none; lines around it moved."""
    edited = line_map({"train.py": (BEFORE, AFTER)})
    assert edited(f"train.py:{line}") == {f"train.py:{number}" for number in became}
    assert edited("other.py:3") == {"other.py:3"}


def test_a_replaced_line_became_all_that_stands_in_its_place() -> None:
    edited = line_map({"train.py": ("a\nb\nc\n", "a\nx\ny\nc\n")})
    assert edited("train.py:2") == {"train.py:2", "train.py:3"}
    assert edited("train.py:3") == {"train.py:4"}


def test_the_lines_that_an_edit_put_in_are_those_of_the_new_text() -> None:
    assert changed_sites({"train.py": (BEFORE, AFTER)}) == {"train.py:2"}
    assert changed_sites({"train.py": (BEFORE, BEFORE)}) == frozenset()


def test_a_finding_that_is_gone_costs_nothing_any_more() -> None:
    before, after = run(pull(3)), run()
    found = verify("host-sync", "train.py:3", before, after, line_map({}))
    assert found.state == "gone" and found.by_step and not found.new
    assert (found.before.bytes_of_finding, found.after.bytes_of_finding) == (1000.0, 0.0)
    assert (found.before.bytes, found.after.bytes) == (1000.0, 0.0)
    assert (found.before.warnings, found.after.warnings) == (1, 0)
    assert found.before.step is None  # nothing tells when the steps were


def test_runs_without_steps_are_compared_as_a_whole() -> None:
    """What paces them, calls or loops, is told differently once the code changed."""
    stepless = Tables([], {}, [], [pull(3)], [], {})
    without = dataclasses.replace(run(pull(3)), tables=stepless)
    assert not verify("host-sync", "train.py:3", run(pull(3)), without, line_map({})).by_step
    found = verify("host-sync", "train.py:3", without, without, line_map({}))
    assert not found.by_step and found.before.bytes == 10_000


def test_a_finding_that_only_moved_with_its_line_is_still_there() -> None:
    found = verify(
        "host-sync",
        "train.py:3",
        run(pull(3)),
        run(pull(5)),
        line_map({"train.py": ("a\nb\nc\n", "new\nnew\na\nb\nc\n")}),
    )
    assert found.state == "still there"
    assert [one.site for one in found.after.found] == ["train.py:5"]
    assert found.new == ()


def test_times_of_devices_that_only_play_gpus_are_known_as_such() -> None:
    played = run(pull(3))
    mapped = {"cpu:1": {"stand_in": True}}
    process = Process(
        0, 1, "main", "tensorflow", None, None, None, 0, 0, ["cpu:0", "cpu:1"], mapped, True, {}
    )
    tables = dataclasses.replace(played.tables, processes=[process])
    real = verify("host-sync", "train.py:3", run(pull(3)), run(), line_map({}))
    assert not real.stand_ins
    found = verify("host-sync", "train.py:3", dataclasses.replace(played, tables=tables), run(), line_map({}))
    assert found.stand_ins


def test_a_mistake_of_several_lines_that_is_mended_at_one_is_still_there() -> None:
    def at(*lines: int) -> Judged:
        other = Finding("mixed-context", "error", "train.py:9", "", evidence("mixed-context"), None, ())
        also = [f"train.py:{line}" for line in lines[1:]]
        one = Finding(
            "mixed-context",
            "error",
            f"train.py:{lines[0]}",
            "",
            evidence("mixed-context", also_at=also),
            None,
            (),
        )
        return dataclasses.replace(run(), findings=[one, other])

    before = at(3, 5, 9)
    half = verify("mixed-context", "train.py:3", before, at(5), line_map({}))
    assert (half.state, half.new) == ("still there", ())
    only_the_other = dataclasses.replace(before, findings=before.findings[1:])
    assert verify("mixed-context", "train.py:3", before, only_the_other, line_map({})).state == "gone"


def test_what_a_change_brings_is_told() -> None:
    """WHEN the line is mended and another one goes wrong THEN that one is new."""
    found = verify("host-sync", "train.py:3", run(pull(3)), run(pull(7)), line_map({}))
    assert found.state == "gone"
    assert [(one.code, one.site) for one in found.new] == [("host-sync", "train.py:7")]


def test_a_wait_that_became_a_note_is_told_as_still_there() -> None:
    """A value that is now taken in one step of ten is still taken: the reader sees what it costs."""
    found = verify("host-sync", "train.py:3", run(pull(3)), run(pull(3, count=1)), line_map({}))
    assert found.state == "eased"
    assert [one.severity for one in found.after.found] == ["info"]
    assert (found.before.bytes_of_finding, found.after.bytes_of_finding) == (1000.0, 100.0)


def test_sizes_that_are_not_known_are_not_compared() -> None:
    unknown = Key(3, "hop", hop_fields("cpu:1", "cpu:2", bytes=None, loc=3), 10)
    found = verify("unknown", "train.py:3", run(unknown), run(), line_map({}))
    assert found.before.bytes_of_finding is None
    assert found.before.bytes is None
    assert found.after.bytes == 0


def stepping(*took: int) -> Judged:
    """A run whose steps took so long, ns, after the first one's mark."""
    ends = [1000, *itertools.accumulate(took, initial=1000)][1:]
    events = [Event("mark", ts, 0, 90, 1, None, None, 1, 0) for ts in ends]
    other = Event("mark", 5000, 0, 91, 1, None, None, 1, 0)
    judged = run()
    tables = dataclasses.replace(judged.tables, events_of={"mark": [*events, other]}.__getitem__)
    return dataclasses.replace(judged, tables=tables)


def test_a_step_is_told_with_what_it_varies_by() -> None:
    found = verify(
        "host-sync",
        "t.py:3",
        stepping(200, 210, 220, 230, 900),
        stepping(100, 100, 110, 120, 215),
        line_map({}),
    )
    assert found.before.step == StepTime(220, 210, 230)
    assert found.after.step == StepTime(110, 100, 120)
    assert not found.before.step.like(found.after.step)
    assert found.before.step.like(StepTime(205, 190, 211))
    assert verify("host-sync", "t.py:3", stepping(200, 200, 200), run(), line_map({})).before.step is None


def inside(key: int, loc: int, tensor: str) -> Key:
    fields = hop_fields("cpu:1", "cpu:2", bytes=1000, loc=loc, graph=1, per_call=1, tensor=tensor)
    return Key(key, "hop", fields | {"requested": "cpu:2"}, 10)


def test_what_xla_hid_is_told_apart_from_what_the_change_costs() -> None:
    """WHEN a function is not compiled any more THEN the transfers in it are those that show only now."""
    opaque = {"function": "step", "ops": 4, "asked": ["cpu:2"], "devices": ["cpu:1"], "how": "jit_compile"}
    before = run(Key(50, "opaque", opaque | {"loc": 3}, 10), inside(4, 9, "seen:0"), pull(7))
    after = run(inside(4, 9, "seen:0"), inside(5, 6, "x:0"), pull(7))
    found = verify("xla-opaque", "train.py:3", before, after, line_map({}))
    assert (found.state, found.uncovered) == ("gone", True)
    assert [after.hops[row].site for row in found.shown] == ["train.py:6"]
    assert (found.before.bytes, found.after.bytes, found.bytes_shown) == (2000, 3000, 1000)
    still = verify("xla-opaque", "train.py:3", before, before, line_map({}))
    assert (still.uncovered, still.shown) == (False, ())


def test_what_the_run_after_did_not_see_is_not_called_gone() -> None:
    before, after = run(pull(3)), run()
    after.tables.unseen.append(Unseen("ops inside step", 5000, "the runtime exported no placed graph"))
    found = verify("host-sync", "train.py:3", before, after, line_map({}))
    assert (found.state, found.unseen) == ("gone", "ops inside step")
    assert verify_words.headline(found) == (
        "Whether host-sync at train.py:3 is gone is not known: this run does not show it;"
        " not seen: ops inside step"
    )
    before.tables.unseen.append(after.tables.unseen[0])
    assert verify("host-sync", "train.py:3", before, after, line_map({})).unseen == ""
