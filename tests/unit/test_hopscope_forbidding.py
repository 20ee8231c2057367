"""What a report must hold for a block to have done what is forbidden."""

from __future__ import annotations

from typing import Any

import pytest

import hopscope
from app.diagnosis.registry import SEVERITY
from hopscope.forbidding import CODES, beside, forbidden, name_of_test


def hop(
    cause: str, count: int | None = 1, size: int | None = 4, site: str | None = "a.py:3"
) -> dict[str, Any]:
    edge = {"op": "Sum", "tensor": "x:0", "src": "gpu:0", "dst": "cpu:0"}
    return edge | {"cause": cause, "count": count, "bytes": size, "site": site}


def finding(code: str, *hops: int, summary: str = "", **evidence: Any) -> dict[str, Any]:
    return {"code": code, "hops": list(hops), "summary": summary, "evidence": evidence}


REPORT = {
    "hops": [
        hop("explicit", 6),
        hop("host-sync", None, None, None),
        hop("host-sync", 0),
        hop("variable-home", 2),
    ],
    "findings": [
        finding("bounce", 1, 3),
        finding("explicit", 0),
        finding("replica-drift", summary="The replicas drift."),
        finding("unknown", summary="Not seen: x.", why="jit", what="x"),
    ],
}


@pytest.mark.parametrize(
    ("codes", "rows"),
    [
        (("explicit",), ["explicit: Sum at a.py:3: x:0 gpu:0 -> cpu:0, 4 B, 6 times"]),
        # It is a part of a chain, whose finding has another code.
        (
            ("host-sync",),
            ["host-sync: Sum at an unknown line: x:0 gpu:0 -> cpu:0, bytes unknown, how often is not known"],
        ),
        (
            ("bounce", "variable-home"),
            [
                "bounce: Sum at an unknown line: x:0 gpu:0 -> cpu:0, bytes unknown, how often is not known",
                "variable-home: Sum at a.py:3: x:0 gpu:0 -> cpu:0, 4 B, 2 times",
            ],
        ),
        (("replica-drift",), ["replica-drift: The replicas drift."]),
        (("unknown", "no-kernel"), []),
    ],
)
def test_forbidden(codes: tuple[str, ...], rows: list[str]) -> None:
    assert forbidden(REPORT, codes) == rows


def test_beside_a_row_stand_its_source_line_and_the_fix_of_its_finding_once() -> None:
    source = {"first": 2, "line": 3, "lines": ["def f(x):", "    y = g(x)", "    return y"]}
    known = {"site": "a.py:3", "source": source, "fix": "Keep y there."}
    report = {
        "hops": [hop("explicit", 6), hop("explicit", 2), hop("host-sync", site="b.py:1")],
        "findings": [
            finding("bounce", 0, 2) | {"fix": "Drop both."},
            finding("explicit", 0, 1) | known,
            finding("replica-drift", summary="They drift.") | {"site": "b.py:2", "fix": "Exchange them."},
        ],
    }
    codes = ("explicit", "host-sync", "replica-drift")
    first, second, third, drift = forbidden(report, codes)
    told = beside(report, codes)
    assert told == {
        first: ["3 | y = g(x)", "fix: Keep y there."],
        second: [],
        third: ["fix: Drop both."],
        drift: ["fix: Exchange them."],
    }
    failed = str(hopscope.ForbiddenTransfer([first, drift], "20260101-x", told)).splitlines()
    assert failed[1:] == [
        f"  {first}",
        "    3 | y = g(x)",
        "    fix: Keep y there.",
        f"  {drift}",
        "    fix: Exchange them.",
        "  run 20260101-x shows it all",
    ]


def test_a_fix_that_is_code_has_its_code_below_it() -> None:
    """Bug: "Runs the statement where its result is used" was told without the change that it describes."""
    source = {"first": 8, "line": 8, "lines": ["    x = f()"]}
    diff = "@@ a.py:8 @@\n def step():\n-    x = f()\n+    with d:\n+        x = f()\n     return x"
    known = {"site": "a.py:8", "source": source, "fix": "Runs it there.", "repair": {"diff": diff}}
    report = {"hops": [hop("default-device")], "findings": [finding("default-device", 0) | known]}
    rows = forbidden(report, ("default-device",))
    told = beside(report, ("default-device",))
    assert str(hopscope.ForbiddenTransfer(rows, "20260101-x", told)).splitlines()[2:-1] == [
        "    a.py:8 | x = f()",  # the row is of another line, where what is made here is used
        "    fix: Runs it there.",
        "      @@ a.py:8 @@",
        "      -    x = f()",
        "      +    with d:",
        "      +        x = f()",
    ]
    known["repair"] = {"diff": "\n".join(f"+{number}" for number in range(13))}
    report["findings"] = [finding("default-device", 0) | known]
    assert beside(report, ("default-device",))[rows[0]][1] == "fix, as code in the run: Runs it there."


def test_it_knows_the_codes_that_reports_have() -> None:
    assert set(SEVERITY) <= set(CODES)


@pytest.mark.parametrize(
    ("codes", "words"),
    [((), "needs codes"), (("host-snyc",), "did you mean 'host-sync'"), (("zzz",), "there is explicit, ")],
)
def test_a_code_that_is_none_is_told(codes: tuple[str, ...], words: str) -> None:
    with pytest.raises(ValueError, match=words), hopscope.forbid(*codes):
        pass


def test_a_run_is_named_after_the_test_that_makes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert name_of_test("checks/test_a.py::TestX::test_y[a::b]") == "TestX::test_y[a::b]"
    monkeypatch.setenv("PYTEST_CURRENT_TEST", "checks/test_a.py::test_z (one) (call)")
    assert name_of_test() == "test_z (one)"
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    assert name_of_test() is None


def test_the_message_is_short_and_names_the_run() -> None:
    failed = hopscope.ForbiddenTransfer([f"row {number}" for number in range(30)], "20260101-x")
    lines = str(failed).splitlines()
    assert (lines[0], lines[20], lines[21], lines[22]) == (
        "forbidden in this block:",
        "  row 19",
        "  and 10 more",
        "  run 20260101-x shows it all",
    )
    rows = [f"row {number}" for number in range(19)]
    full = str(hopscope.ForbiddenTransfer(rows, "20260101-x", {row: ["1 | a", "fix: b"] for row in rows}))
    assert len(full.splitlines()) == 42 and "  row 9\n    1 | a\n    fix: b\n  row 10\n" in full
    cut = hopscope.ForbiddenTransfer(rows, "20260101-x", {"row 3": ["\n".join("abc") * 11, "1 | a"]})
    assert "  row 3\n    1 | a\n  row 4\n" in str(cut)
