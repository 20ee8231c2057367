"""Lines of one function that lack the same device scope are told with each other."""

from __future__ import annotations

import dataclasses

from app.diagnosis.causes.default_device.neighbors import advised, together
from app.judgments.finding import Finding
from tests.unit.evidence_records import evidence
from tests.unit.fixes.fix_cases import hop

TEXT = """def clip(grads, limit):
    norm = norm_of([square(g) for g in grads])
    scale = limit / norm
    return [g * scale for g in grads]
def other(grads):
    return norm_of(grads)
step = 3
"""


def found(line: int, row: int, severity: str = "warning") -> Finding:
    fix = "Put the op into the device scope of its inputs."
    return Finding("default-device", severity, f"clip.py:{line}", "", evidence("default-device"), fix, (row,))


def others(*findings: Finding, text: str | None = TEXT) -> list[object]:
    taken = hop("default-device", src="cpu:1", dst="cpu:0")
    given = hop("default-device", src="cpu:0", dst="cpu:1")
    given = dataclasses.replace(given, cause=dataclasses.replace(given.cause, blames="producer"))
    far = hop("default-device", src="cpu:2", dst="cpu:0")
    told = together(findings, [taken, given, far], lambda path: text)
    return [one.evidence.row().get("also_unplaced") for one in told]


def test_lines_that_share_values_name_each_other() -> None:
    """GIVEN a line that takes from the card, and one that the card takes from."""
    assert others(found(2, 0), found(4, 1)) == [["clip.py:4"], ["clip.py:2"]]
    three = others(found(2, 0), found(3, 1), found(4, 1))
    assert three == [["clip.py:3", "clip.py:4"], ["clip.py:2", "clip.py:4"], ["clip.py:2", "clip.py:3"]]
    # Another function, another card, nothing to mend, and no text tell nothing.
    assert others(found(2, 0), found(6, 0)) == [None, None]
    assert others(found(2, 0), found(4, 2)) == [None, None]
    assert others(found(2, 0), found(4, 1, "info")) == [None, None]
    assert others(found(2, 0), found(4, 1), text=None) == [None, None]
    assert others(found(2, 0), found(4, 1), text="def") == [None, None]


NOISE = """BATCH, SIZE = 64, 32
for step in range(9):
    z = normal([BATCH, SIZE])
    of_first(z)
    of_second(normal([BATCH, SIZE]))
    w = z * 2
"""


def test_lines_that_only_make_values_share_what_one_makes_and_the_other_takes() -> None:
    """Bug: two lines that each draw their own noise were said to work with the same values."""
    assert others(found(3, 1), found(5, 1), text=NOISE) == [None, None]
    assert others(found(3, 1), found(6, 1), text=NOISE) == [["clip.py:6"], ["clip.py:3"]]
    # Of a size that both lines read, and that is no tensor, nothing crosses for the other one either.
    assert others(found(3, 0), found(5, 1), text=NOISE) == [None, None]


def test_the_advice_names_the_lines_that_need_it_too() -> None:
    plain = found(2, 0)
    assert advised(plain, plain.fix) == plain.fix
    one = dataclasses.replace(plain, evidence=evidence("default-device", also_unplaced=["clip.py:4"]))
    assert advised(one, one.fix) == (
        f"{plain.fix} clip.py:4 works with the same values and has no device scope either: give both the same"
        " one, or what one line leaves on the device another fetches."
    )
    both = evidence("default-device", also_unplaced=["clip.py:3", "clip.py:4"])
    two = dataclasses.replace(plain, evidence=both)
    assert "clip.py:3 and clip.py:4 work with the same values and have no" in str(advised(two, two.fix))
