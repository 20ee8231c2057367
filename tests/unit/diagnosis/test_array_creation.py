"""Arrays that MXNet makes without a context: a warning only where they are made to be copied, each step."""

from __future__ import annotations

from typing import Any

import pytest

from app.diagnosis.findings import run_findings
from app.diagnosis.judge import hop_table
from app.diagnosis.registry import because
from app.facts.tables import Tables
from app.judgments.finding import Finding
from probes.trace.rows import Key, Location
from tests.unit.traces import hop_fields

SITES = {
    number: Location(number, f"train.py:{line}", None, "/src/train.py", line, "main")
    for number, line in ((1, 6), (2, 7), (3, 9), (4, 10))
}
STEPS = Key(90, "mark", {"name": "step"}, 12)
ARANGE, POWER = ("_arange", 1), ("_arange", 2)


def ran(number: int, op: str, loc: int, count: int = 12) -> Key:
    return Key(number, "op", {"op": op, "device": "cpu:0", "requested": "", "loc": loc}, count)


def copied(loc: int, producer: tuple[str, int], *makers: tuple[str, int], **more: Any) -> Key:
    """What the host made at a line is copied to a card at another, or the same."""
    call, count = more.pop("call", "as_in_context"), more.pop("count", 12)
    fields = {
        "op": "_copyto",
        "loc": loc,
        "producer_op": producer[0],
        "producer_loc": producer[1],
        "bytes": 10240,
        "requested": "cpu:1",
        "facts": {"copy_call": call},
        "from_nothing": "in a model",
        "from_nothing_ops": [op for op, _ in makers],
        "from_nothing_locs": [line for _, line in makers],
    }
    return Key(1, "hop", hop_fields("cpu:0", "cpu:1", **fields | more), count)


def kept(how: str, op: str = "_arange") -> Key:
    return Key(80, "kept", {"op": op, "loc": 1, "how": how}, None)


def told(*keys: Key) -> Finding:
    tables = Tables([], SITES, [], [*keys, STEPS], [])
    (found,) = run_findings(tables, hop_table(tables), ())
    return found


DRAWN = copied(4, ("normal", 4), ("normal", 4), from_nothing="to be sent")
CHAIN = copied(4, ("concat", 3), ARANGE, POWER)
CHAINS_OPS = (ran(2, "_arange", 1), ran(3, "_arange", 2), ran(4, "concat", 3))


def test_what_is_drawn_only_to_be_sent_lacks_a_context_at_its_line() -> None:
    found = told(DRAWN, ran(2, "normal", 4))
    assert (found.code, found.severity, found.site) == ("default-device", "warning", "train.py:10")
    assert found.summary == (
        "normal at train.py:10 names no context, so what it makes lies on cpu:0, only to be copied to cpu:1"
        " by as_in_context: 10 KiB each step."
    )
    assert found.fix == (
        "Make it on cpu:1 from the start, by ctx= of the call at train.py:10: then nothing crosses; a device"
        " draws other numbers than the host."
    )


def test_ops_on_the_host_are_told_at_the_line_that_makes_their_first_array() -> None:
    """GIVEN two ranges, what is made of both, and its copy in a model THEN the first range is told of."""
    found = told(CHAIN, *CHAINS_OPS)
    assert (found.code, found.severity, found.site) == ("default-device", "warning", "train.py:6")
    assert found.summary == (
        "_arange at train.py:6 names no context, so it runs on cpu:0 in the middle of each step, and what"
        " comes of it is copied to cpu:1 at train.py:10 by as_in_context: 10 KiB each step."
    )
    assert because(found) == (
        "An array that nobody gave a context lies on the current one,"
        " cpu(0) by default; ops on such arrays run there, and nothing else of the host goes in."
    )
    assert found.fix == (
        "Make it on cpu:1 from the start, by ctx= of the call at train.py:6 and train.py:7: then nothing"
        " crosses."
    )


@pytest.mark.parametrize(
    ("copy", "others"),
    [
        # Made once, and parts of it sent in each step.
        (CHAIN, (ran(2, "_arange", 1, 1), ran(3, "_arange", 2), ran(4, "concat", 3))),
        # The line that was handed such an array is handed others too.
        (CHAIN, (ran(2, "_arange", 1), ran(3, "_arange", 2), ran(4, "concat", 3, 24))),
        # It meets arrays of the host as well, or goes to several places.
        (CHAIN, (*CHAINS_OPS, kept("used"))),
        (CHAIN, (*CHAINS_OPS, kept("sent"))),
        # The library cuts a batch for several devices.
        (copied(4, ("concat", 3), ARANGE, call="split_and_load"), CHAINS_OPS),
        (copied(4, ("concat", 3), ARANGE, bytes=64), CHAINS_OPS),
        (copied(4, ("concat", 3), ARANGE, count=3), CHAINS_OPS),
        # It is data, or the code named the host: then the recorder says nothing of the kind.
        (copied(4, ("concat", 3), from_nothing=None), CHAINS_OPS),
    ],
)
def test_what_has_a_reason_to_be_on_the_host_is_a_note(copy: Key, others: tuple[Key, ...]) -> None:
    found = told(copy, *others)
    assert (found.code, found.severity, found.site) == ("explicit", "info", "train.py:10")


def test_what_is_only_sent_may_meet_others_elsewhere() -> None:
    """What an expression makes and sends is nobody else's, whatever its line's ops meet at other times."""
    used = Key(80, "kept", {"op": "normal", "loc": 4, "how": "used"}, None)
    assert told(DRAWN, ran(2, "normal", 4), used).severity == "warning"


LATER = copied(4, ("normal", 1), ("normal", 1), from_nothing="only copied")


def test_what_another_statement_only_copies_is_told_at_the_line_that_makes_it() -> None:
    """Bug: noise that one statement draws and another copies, beside the model, was a note at the copy."""
    found = told(LATER, ran(2, "normal", 1))
    assert (found.code, found.severity, found.site) == ("default-device", "warning", "train.py:6")
    assert found.summary == (
        "normal at train.py:6 names no context, so what it makes lies on cpu:0, only to be copied to cpu:1 at"
        " train.py:10 by as_in_context: 10 KiB each step."
    )


def test_a_helper_may_make_them_for_several_lines() -> None:
    other = copied(3, ("normal", 1), ("normal", 1), from_nothing="only copied")
    tables = Tables(
        [], SITES, [], [LATER, Key(7, "hop", other.fields, 12), ran(2, "normal", 1, 24), STEPS], []
    )
    assert {one.code for one in run_findings(tables, hop_table(tables), ())} == {"default-device"}


@pytest.mark.parametrize(
    "others",
    [
        # Made once and kept, or made for the host too, or copied to two places.
        (ran(2, "normal", 1, 1),),
        (ran(2, "normal", 1, 24),),
        (ran(2, "normal", 1), kept("sent", "normal")),
        # An op or Python takes it on the host as well.
        (ran(2, "normal", 1), kept("worked on", "normal")),
    ],
)
def test_what_has_another_use_than_its_copy_is_a_note(others: tuple[Key, ...]) -> None:
    found = told(LATER, *others)
    assert (found.code, found.severity, found.site) == ("explicit", "info", "train.py:10")


def test_what_is_worked_on_in_a_model_or_in_its_expression_is_told_all_the_same() -> None:
    assert told(CHAIN, *CHAINS_OPS, kept("worked on")).severity == "warning"
    assert told(DRAWN, ran(2, "normal", 4), kept("worked on", "normal")).severity == "warning"
