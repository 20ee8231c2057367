"""Whether a foreseen finding is gone in the pre-flight of an edited copy, and what the page says of both."""

from __future__ import annotations

from typing import Any

from app.diagnosis.verification import line_map
from app.preflight.comparison import Compared, Row, compare, to_mend
from app.views import units
from app.web.run import flown_words


def hop(src: str, dst: str, each: float | None = 1.0, size: int | None = 1024, count: int = 3) -> Row:
    return {"src": src, "dst": dst, "bytes": size, "count": count, "each": each}


def flown(*hops: Row, findings: Any = (), **more: Any) -> dict[str, Any]:
    about: dict[str, Any] = {"evidence": {}, "fix": None, "summary": ""}
    names = ("code", "severity", "site", "hops")
    rows = [about | dict(zip(names, found, strict=True)) for found in findings]
    nothing: dict[str, Any] = {
        "steps": 3,
        "gpus": 2,
        "syncs": [],
        "no_kernel": [],
        "libraries": [],
        "unforeseen": [],
    }
    return nothing | {"hops": list(hops), "findings": rows} | more


MINUS = "\N{MINUS SIGN}"
FOUND = ("no-kernel", "warning", "a.py:2", [0])
EDIT = line_map({"a.py": ("x = 1\ny = f(x)\nz = 3\n", "x = 1\nw = 2\ny = g(x)\nz = 3\n")})


def held(before: Row, after: Row) -> Compared:
    return compare("no-kernel", "a.py:2", before, after, EDIT)


def told(compared: Compared, whole: bool = True) -> dict[str, list[str]]:
    names = ("before", "after", "change")
    rows = flown_words.flown_rows(compared, whole)
    return {row["cells"]["what"]["text"]: [row["cells"][name]["text"] for name in names] for row in rows}


def test_two_preflights_say_what_a_change_did_to_what_is_foreseen_and_tell_no_times() -> None:
    wait: Row = {"device": "gpu:0", "count": 3, "each": 1.0}
    before = flown(hop("gpu:0", "cpu:0"), hop("cpu:0", "gpu:0"), hop("cpu:0", "gpu:1", 0.0), findings=[FOUND],
                   no_kernel=[{"ops": 2}], syncs=[wait, {**wait, "device": "cpu:0"}])  # fmt: skip
    found = held(before, flown(hop("gpu:0", "gpu:1", size=512)))
    assert flown_words.verdict(found) == "no-kernel at a.py:2 is gone: it is not foreseen any more"
    assert told(found) == {
        "Bytes of this finding, each step": ["1 KiB", "0 B", "all gone"],
        "All bytes that move, each step": ["2 KiB", "512 B", f"{MINUS}75 %"],
        "of them cpu:0 → gpu:0": ["1 KiB", "0 B", "all gone"],
        "of them gpu:0 → cpu:0": ["1 KiB", "0 B", "all gone"],
        "of them gpu:0 → gpu:1": ["0 B", "512 B", "new"],
        "Waits for a GPU's value, each step": ["1", "0", "all gone"],
        "Ops without a GPU kernel": ["2", "0", f"{MINUS}2"],
        "Warnings and errors": ["1", "0", f"{MINUS}1"],
    }
    assert {change for _, _, change in told(found, whole=False).values()} == {""}


def test_of_many_ways_between_devices_only_their_kinds_are_told() -> None:
    ring = [hop(f"gpu:{n}", f"gpu:{(n + 1) % 4}") for n in range(4)]
    rows = told(held(flown(*ring, findings=[FOUND]), flown(*ring, hop("cpu:0", "gpu:3"))))
    ways = {name: cells for name, cells in rows.items() if name.startswith("of them")}
    assert ways == {
        "of them GPUs → GPUs": ["4 KiB", "4 KiB", "none"],
        "of them host → GPUs": ["0 B", "1 KiB", "new"],
    }
    assert not any(name.startswith("of them") for name in told(held(flown(*ring[:1]), flown(*ring[:1]))))


def test_what_is_taken_for_a_card_is_told_as_a_stand_in() -> None:
    ring = [hop(f"cpu:{n}", f"cpu:{(n + 1) % 5}") for n in range(5)]
    wait: Row = {"device": "cpu:2", "count": 3, "each": 1.0}
    taken: dict[str, Any] = {"syncs": [wait, {**wait, "device": "cpu:0"}]}
    taken["stand_ins"] = ["cpu:1", "cpu:2", "cpu:3", "cpu:4"]
    rows = told(held(flown(*ring, findings=[FOUND], **taken), flown(*ring, **taken)))
    assert {name: cells[0] for name, cells in rows.items() if name.startswith(("of them", "Waits"))} == {
        "of them host → stand-ins": "1 KiB",
        "of them stand-ins → host": "1 KiB",
        "of them stand-ins → stand-ins": "3 KiB",
        "Waits for a card's value, each step": "1",
    }


def test_what_stays_on_a_device_is_no_way_between_devices_and_an_unknown_sum_is_not_told_as_the_same() -> (
    None
):
    inside = {**hop("gpu:0", "gpu:0", size=517), "src_memory": "device", "dst_memory": "host"}
    same = {**hop("gpu:0", "gpu:0", size=256), "src_memory": "device", "dst_memory": "device"}
    left = hop("gpu:0", "cpu:0", size=None)
    before = flown(hop("cpu:0", "gpu:0"), inside, same, left, findings=[FOUND])
    found = held(before, flown(inside, same, left))
    assert flown_words.verdict(found) == "no-kernel at a.py:2 is gone: it is not foreseen any more"
    rows = told(found)
    assert rows["All bytes that move, each step"] == [units.UNKNOWN, units.UNKNOWN, ""]
    assert {name: cells for name, cells in rows.items() if name.startswith("of them")} == {
        "of them cpu:0 → gpu:0": ["1 KiB", "0 B", "all gone"],
        "of them gpu:0 → cpu:0": [units.UNKNOWN, units.UNKNOWN, ""],
        "of them gpu:0 and its host memory": ["517 B", "517 B", "none"],
        "of them within gpu:0": ["256 B", "256 B", "none"],
    }
    moved = held(before, flown(hop("cpu:0", "gpu:0"), inside, same, left))
    assert flown_words.elsewhere(moved) == ", but of the bytes that are known as many move as before"
    many = [{**inside, "src": f"gpu:{n}", "dst": f"gpu:{n}"} for n in range(4)]
    kinds = told(held(flown(*many, findings=[FOUND]), flown(*many, hop("cpu:0", "gpu:3"))))
    assert kinds["of them GPUs and their host memory"] == ["2.02 KiB", "2.02 KiB", "none"]


def test_what_some_of_the_steps_do_counts_on_the_average() -> None:
    now_and_then = {**hop("gpu:0", "cpu:0", 0.0), "mean": 1 / 3}
    always = hop("gpu:0", "gpu:1", size=100_000)
    found = held(flown(now_and_then, always, findings=[FOUND]), flown(always))
    assert told(found) == {
        "Bytes of this finding, each step": ["341 B", "0 B", "all gone"],
        "All bytes that move, each step": ["98.0 KiB", "97.7 KiB", f"{MINUS}0.3 %"],
        "of them gpu:0 → cpu:0": ["341 B", "0 B", "all gone"],
        "of them gpu:0 → gpu:1": ["97.7 KiB", "97.7 KiB", "none"],
        "Warnings and errors": ["1", "0", f"{MINUS}1"],
    }
    larger = hop("gpu:0", "gpu:1", size=200_000)
    found = held(flown(now_and_then, larger, findings=[FOUND]), flown(larger))
    assert told(found)["All bytes that move, each step"] == ["196 KiB", "195 KiB", f"{MINUS}0.2 %"]
    # A percentage beside two figures that read alike would look like an error.
    larger = hop("gpu:0", "gpu:1", size=400_000)
    found = held(flown(now_and_then, larger, findings=[FOUND]), flown(larger))
    assert told(found)["All bytes that move, each step"] == ["391 KiB", "391 KiB", "about the same"]


def test_a_finding_follows_its_line_and_may_be_a_note_then() -> None:
    before = flown(hop("gpu:0", "cpu:0"), findings=[FOUND])
    still = held(before, flown(hop("gpu:0", "cpu:0"), findings=[("no-kernel", "warning", "a.py:3", [0])]))
    assert flown_words.verdict(still) == "no-kernel at a.py:2 is still foreseen, now at a.py:3"
    assert still.verified.new == ()
    note = held(before, flown(hop("gpu:0", "cpu:0"), findings=[("no-kernel", "info", "a.py:3", [0])]))
    assert flown_words.verdict(note) == (
        "no-kernel at a.py:2 is foreseen as a note only, no warning, now at a.py:3, but all in all as many"
        " bytes move as before"
    )


def test_what_is_new_or_cannot_be_foreseen_any_more_is_told() -> None:
    def row(what: str, site: str, severity: str = "warning") -> Row:
        return {"what": what, "site": site, "severity": severity, "why": "so"}

    before = flown(findings=[(*FOUND[:3], [])], libraries=[row("No cuDNN.", "a.py:3")],
                   unforeseen=[row("inside PyFunc", "a.py:3")])  # fmt: skip
    sums = row("Sums.", "a.py:1", "info")
    found = held(before, flown(
        findings=[("host-sync", "warning", "a.py:2", []), ("explicit", "info", "a.py:2", [])],
        libraries=[row("No cuDNN.", "a.py:4"), row("XLA refuses it.", "a.py:2"), sums],
        unforeseen=[row("inside PyFunc", "a.py:4"), row("steps", "")],
        gpus=3,
    ))  # fmt: skip
    assert [(one.code, one.site) for one in found.verified.new] == [("host-sync", "a.py:2")]
    assert flown_words.libraries_told(found) == ["New, of libraries for GPUs: XLA refuses it."]
    assert flown_words.less_foreseen(found) == "New among what cannot be foreseen: steps (so)"
    assert flown_words.other_machine(found).startswith(
        "This one is foreseen for 3 GPUs, the one before for 2"
    )
    assert told(found)["Warnings and errors"] == ["2", "3", "+1"]
    same = compare("no-kernel", "a.py:2", before, before, line_map({}))
    assert flown_words.less_foreseen(same) == flown_words.other_machine(same) == ""


def test_without_steps_all_that_ran_is_held_against_and_unknown_sizes_stay_unknown() -> None:
    before = flown(hop("gpu:0", "cpu:0", None), findings=[FOUND], steps=None)
    rows = told(held(before, flown(hop("gpu:0", "cpu:0", None, None))))
    assert rows["All bytes that move, in all that ran"] == ["3 KiB", units.UNKNOWN, ""]
    nothing_tells = flown(hop("gpu:0", "cpu:0", None), findings=[FOUND])
    assert told(held(nothing_tells, flown()))["All bytes that move, each step"][0] == "1 KiB"


def test_a_fix_can_be_tried_of_warnings_and_errors() -> None:
    report = flown(findings=[FOUND, ("explicit", "info", "a.py:1", []), ("mixed-context", "error", None, [])])
    assert list(to_mend(report)) == ["mixed-context@", "no-kernel@a.py:2"]


def test_that_an_ended_copy_was_not_tried_to_its_end_is_said() -> None:
    assert flown_words.not_reached([{}, {"preflight": {"ended_after": 4}}]).startswith(
        "The copy was ended after 4 steps: what it does behind its loop did not run"
    )
    assert flown_words.not_reached([{}, {"preflight": None}]) == ""
