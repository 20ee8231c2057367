"""What waits in MXNet, each wait split into compute and copying; and operators written in Python."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from app.diagnosis.judge import hop_table
from app.facts.tables import tables_of
from app.store.run import open_run
from tests.integration.recording import SCRIPTS, Recorded, by, record

WAYS = ("asnumpy", "asscalar", "wait_to_read", "print", "bool", "pickle", "float", "int", "item", "tolist")


def recorded(python: Path, script: str, home: Path) -> Recorded:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOPSCOPE_HOME", str(home))
        run = record(python, SCRIPTS / script, framework="mxnet")
    assert run.run.state == "finished", run.log[-2000:]
    return run


@pytest.fixture(scope="module")
def syncs(mx_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return recorded(mx_python, "mx_syncs.py", tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def own(mx_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return recorded(mx_python, "mx_own_ops.py", tmp_path_factory.mktemp("home"))


def site(script: str, comment: str) -> str:
    lines = (SCRIPTS / script).read_text().splitlines()
    return next(f"{script}:{n}" for n, text in enumerate(lines, 1) if text.endswith(f"  # {comment}"))


def at(run: Recorded, script: str, table: str, comment: str) -> list[Mapping[str, Any]]:
    return by(run.report[table], site=site(script, comment))


@pytest.mark.parametrize("kind", WAYS)
def test_each_wait_is_measured_in_its_two_parts(syncs: Recorded, kind: str) -> None:
    (row,) = at(syncs, "mx_syncs.py", "syncs", kind)
    assert (row["device"], row["kind"], row["count"], row["basis"]) == ("cpu:1", kind, 1, "measured")
    assert row["wait_ns"] > 0
    assert (row["copy_ns"] > 0) == (kind != "wait_to_read")  # that one takes nothing


@pytest.mark.parametrize(
    ("comment", "kind"),
    [("format", "print"), ("if", "bool"), ("bool of np", "bool"), ("print of np", "print")],
)
def test_a_value_is_taken_by_other_words_too(syncs: Recorded, comment: str, kind: str) -> None:
    assert [(r["device"], r["kind"]) for r in at(syncs, "mx_syncs.py", "syncs", comment)] == [("cpu:1", kind)]


def test_waiting_for_all_is_measured(syncs: Recorded) -> None:
    (row,) = at(syncs, "mx_syncs.py", "syncs", "waitall")
    assert (row["device"], row["kind"], row["copy_ns"], row["basis"]) == ("", "waitall", 0, "measured")


def test_an_upload_takes_no_longer_than_its_copying(syncs: Recorded) -> None:
    hops = hop_table(tables_of(open_run(syncs.run.path)))
    (upload,) = [hop for hop in hops if hop.site == site("mx_syncs.py", "behind work of the host")]
    assert (upload.kind, upload.bytes, upload.count) == ("upload", 256, 1)
    assert 0 < (upload.took_ns or 0) < 20_000_000  # the product takes ten times as long
    assert at(syncs, "mx_syncs.py", "syncs", "behind work of the host") == []


def test_each_turn_of_a_comprehension_counts(syncs: Recorded) -> None:
    (row,) = at(syncs, "mx_syncs.py", "syncs", "in a comprehension")
    assert (row["device"], row["kind"], row["count"]) == ("cpu:1", "item", 4)


def test_what_is_copied_to_the_host_to_be_taken_waits_for_its_device(syncs: Recorded) -> None:
    (row,) = at(syncs, "mx_syncs.py", "syncs", "copied, then taken")
    assert (row["device"], row["waits_for"]) == ("cpu:0", "cpu:1")
    # A copy that was made once is on the host when it is taken again and again.
    (row,) = at(syncs, "mx_syncs.py", "syncs", "copied once")
    assert (row["device"], row["waits_for"]) == ("cpu:0", "")


@pytest.mark.parametrize(("comment", "arrays"), [("save", 1), ("parameters", 2)])
def test_saving_waits_for_the_device_whose_values_are_saved(
    syncs: Recorded, comment: str, arrays: int
) -> None:
    rows = at(syncs, "mx_syncs.py", "syncs", comment)
    taken = [(row["waits_for"] or row["device"], row["kind"], row["count"]) for row in rows]
    assert taken == [("cpu:1", "save", arrays)]


@pytest.mark.parametrize("comment", ["taken by an operator", "taken by a function"])
def test_an_operator_in_python_takes_values_of_its_device(own: Recorded, comment: str) -> None:
    assert [(r["device"], r["count"]) for r in at(own, "mx_own_ops.py", "syncs", comment)] == [("cpu:1", 6)]
    (finding,) = by(at(own, "mx_own_ops.py", "findings", comment), code="host-sync")
    assert finding["severity"] == "warning"
    assert "made_by" not in finding["evidence"] and len(finding["evidence"]["handed_by"]) == 1


def test_what_an_operator_in_python_makes_is_made_by_it(own: Recorded) -> None:
    (finding,) = by(at(own, "mx_own_ops.py", "findings", "what an operator made"), code="host-sync")
    (made,) = finding["evidence"]["made_by"]
    assert made.startswith("Custom at mx_own_ops.py:") and "handed_by" not in finding["evidence"]


def test_what_an_operator_in_python_returns_stays_on_its_device(own: Recorded) -> None:
    assert [r["src"] for r in own.report["hops"] if r["dst"] == "cpu:0" and r["op"] != "Python"] == []
    assert [(r["src"], r["dst"]) for r in at(own, "mx_own_ops.py", "hops", "given back")] == [
        ("cpu:0", "cpu:1")
    ]
    assert at(own, "mx_own_ops.py", "hops", "on its device") == []


@pytest.mark.parametrize("comment", ["into one that is there", "a type that it has"])
def test_values_for_an_array_of_its_own_are_no_needless_copy(own: Recorded, comment: str) -> None:
    assert at(own, "mx_own_ops.py", "hops", comment) == []


def test_a_needless_copy_that_is_made_once_is_a_note(own: Recorded) -> None:
    (finding,) = at(own, "mx_own_ops.py", "findings", "where it is")
    assert (finding["code"], finding["severity"]) == ("redundant-copy", "info")


def test_two_trainers_that_one_line_applies_make_one_step(own: Recorded) -> None:
    assert own.report["steps"] == 6
