"""Edits of a text, how they are shown, and what stops a fix."""

from __future__ import annotations

import pytest

from app.diagnosis.explanation import Recorded, repair
from app.fixes.code.edits import Edit, Repair, applied, edits_between, line_after, plain_lines
from app.judgments.finding import Finding
from tests.unit.evidence_records import evidence
from tests.unit.fixes.fix_cases import hop, proposed

READ = evidence("host-sync", taken_by="float")


@pytest.mark.parametrize(
    ("text", "edits", "after"),
    [
        ("a\nb\nc\n", [Edit("f", 2, 2, ("B",))], "a\nB\nc\n"),
        ("a\r\nb\r\nc", [Edit("f", 3, 3, ("C", "D"))], "a\r\nb\r\nC\r\nD"),
        ("a\nb\n", [Edit("f", 1, 0, ("x",)), Edit("f", 3, 2, ("y",))], "x\na\nb\ny\n"),
        ("a\nb", [Edit("f", 2, 2, ())], "a"),
        ("a\rb\r", [Edit("f", 2, 1, ("x",))], "a\rx\rb\r"),
        ("\ufeffa\nb\n", [Edit("f", 1, 1, ("A",))], "\ufeffA\nb\n"),
        ("a\x0cb\nc\n", [Edit("f", 2, 2, ("C",))], "a\x0cb\nC\n"),
        ("a\nb\nc\n", [Edit("f", 1, 1, ("A",)), Edit("f", 3, 3, ("C",))], "A\nb\nC\n"),
        ("", [Edit("f", 1, 0, ("x",))], "x\n"),
    ],
)
def test_edits_keep_the_ends_of_lines(text: str, edits: list[Edit], after: str) -> None:
    assert applied(text, edits) == after
    assert applied(text, list(reversed(edits))) == after


@pytest.mark.parametrize(
    "edits", [[Edit("f", 3, 3, ())], [Edit("f", 1, 2, ()), Edit("f", 2, 2, ())], [Edit("f", 0, 0, ())]]
)
def test_edits_that_do_not_fit_are_refused(edits: list[Edit]) -> None:
    with pytest.raises(ValueError, match="can't be replaced"):
        applied("a\nb\n", edits)


@pytest.mark.parametrize(
    ("old", "new"),
    [("a\nb\nc\n", "a\nx\ny\nc\n"), ("a\n", "a\nb\n"), ("a\nb\n", "b\n"), ("a\nb\na\n", "b\na\nb\n")],
)
def test_edits_between_two_texts_make_the_one_of_the_other(old: str, new: str) -> None:
    assert applied(old, edits_between("f", old, new)) == new
    assert edits_between("f", old, old) == ()


def test_the_code_is_shown_with_lines_around_it() -> None:
    text = "".join(f"{number}\n" for number in range(1, 10))
    found = Repair(
        "Changes.", (Edit("a.py", 2, 2, ("two",)), Edit("a.py", 4, 3, ("new",)), Edit("a.py", 8, 8, ()))
    )
    assert found.code({"a.py": text}.get) == (
        "@@ a.py:2 @@\n 1\n-2\n+two\n 3\n+new\n 4\n@@ a.py:8 @@\n 7\n-8\n 9"
    )
    assert found.code(lambda file: None) == ""


def test_lines_are_those_that_python_counts() -> None:
    assert plain_lines("a\u2028b\x1cc\r\nd") == ["a\u2028b\x1cc", "d"]


def test_a_finding_without_a_line_or_a_text_has_no_fix() -> None:
    pull = (hop("host-sync"),)
    for site in (None, "gone.py:3", "train.py:99", "train.py:0"):
        finding = Finding(
            "host-sync", "warning", site, "", evidence("host-sync", taken_by="float"), None, (0,), True
        )
        text = "import tensorflow as tf\nfor i in range(9):\n    print(float(x))\n"
        assert repair(finding, Recorded(pull, {"train.py": text}.get, "tensorflow", ())) is None


def test_names_of_other_scripts_and_a_mark_at_the_start_are_no_hindrance() -> None:
    before = "\ufeffimport tensorflow as tf\n\u03b1 = '\u00e9\u00e9'\ny = \u03b1\u03b2 + tf.ones(3)  #!\n"
    text, found = proposed("default-device", before, hops=(hop("default-device", "gpu:1"),))
    assert found is not None
    assert applied(text, found.edits) == (
        "\ufeffimport tensorflow as tf\n\u03b1 = '\u00e9\u00e9'\n"
        "with tf.device('/GPU:1'):\n    y = \u03b1\u03b2 + tf.ones(3)\n"
    )


def test_texts_that_cannot_be_parsed_have_no_fix() -> None:
    for text in ("for x in\n", "x = (\n", "y = 1\0\n", "(" * 3000 + ")" * 3000):
        finding = Finding(
            "host-sync", "warning", "train.py:1", "", evidence("host-sync", taken_by="float"), None, (), True
        )
        assert repair(finding, Recorded((), {"train.py": text}.get, "tensorflow", ())) is None


def test_a_line_is_found_again_in_the_edited_text() -> None:
    """WHEN lines are inserted, replaced and dropped THEN each line's place, or what stands there, is told."""
    edits = [Edit("t.py", 2, 1, ("new",)), Edit("t.py", 3, 4, ("one",)), Edit("t.py", 6, 6, ())]
    # Of: a b c d e f g; edited: a new b one e g
    assert [line_after(edits, line) for line in range(1, 8)] == [1, 3, 4, 4, 5, 6, 6]
