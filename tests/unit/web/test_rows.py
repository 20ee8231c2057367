"""Runs, hops and findings as the tables of the pages show them."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

from app.diagnosis.explanation import Explained
from app.diagnosis.judge import hop_table
from app.diagnosis.proof import Proof, Stop, Way
from app.diagnosis.proof_facts import Fact, Place
from app.diagnosis.registry import SEVERITY
from app.diagnosis.verification import Side, StepTime, Verified
from app.facts.collectives import Collective
from app.facts.lines import Excerpt
from app.facts.memory import Memory
from app.facts.syncs import Idle, Sync
from app.fixes.code.edits import Edit, Repair
from app.judgments.finding import Finding
from app.store.failure import LastException
from app.views import units
from app.views.colors import device_colors
from app.views.placement_data import Crossing, Diagram, Group, Member
from app.views.progress_data import Progress
from app.views.selection import Selection
from app.views.timeline_data import Lane
from app.web.run import run_header, verify_words
from app.web.run.finding_rows import evidence_text, finding_rows, fold_title, headline
from app.web.run.focus import finding_id, finding_name, focus_of
from app.web.run.run_claim import claim_rows
from app.web.run.stage import Stage
from app.web.run.tries import tries_of
from app.web.shared import run_rows
from app.web.shared.address import RunAddress
from app.web.shared.devices import badges, devices_cell
from app.web.shared.launch_words import concerning
from app.web.shared.rows import RunRows, sync_columns
from probes.trace.rows import Process
from runners.catalogue import PROGRAMS
from runners.programs.verdicts import Verdict
from runners.runs.run import Run
from tests.unit.evidence_records import evidence
from tests.unit.facts.test_hops import hop, tables
from tests.unit.reports.test_run_report import process
from tests.unit.traces import Trace

NOW = 1_800_000_000.0
NOTHING = Progress((), (), ())


def run(state: str, spec: dict[str, Any] | None = None, **status: Any) -> Run:
    facts = {"name": "tf-mirrored", "framework": "tensorflow", "created": "2026-01-01T00:00:00+00:00"}
    return Run("id", Path("/runs/id"), facts | (spec or {}), {"state": state, **status})


def finding(severity: str, hops: tuple[int, ...] = (), **facts: Any) -> Finding:
    return Finding(
        "bounce", severity, "train.py:3", "It bounces.", evidence("host-sync", facts), "Don't.", hops
    )


def test_a_run_of_each_state_has_its_buttons() -> None:
    ended = run_rows.run_row(run("finished", started=10.0, ended=12.5), NOTHING, True, NOW)["cells"]
    assert ended["state"] == {"text": "finished", "tone": "good"}
    assert ended["duration"]["text"] == "2.5 s"
    assert [button["name"] for button in ended["actions"]["actions"]] == ["delete"]
    assert run_rows.run_row(run("finished"), NOTHING, False, NOW)["cells"]["actions"] == {"actions": []}
    failed = run_rows.run_row(run("failed", reason="exited with status 3"), NOTHING, True, NOW)["cells"]
    assert failed["run"]["note"] == "exited with status 3"
    assert ended["run"]["note"] == "" and ended["run"]["href"] == "/run?run=id"


def test_a_pre_flight_and_a_try_are_told_from_the_run_of_their_name() -> None:
    def told(spec: dict[str, Any], known: set[str]) -> dict[str, Any]:
        cell: dict[str, Any] = run_rows.run_row(run("finished", spec), NOTHING, True, NOW, known)["cells"][
            "run"
        ]
        return cell

    assert "kind" not in told({}, set()) and "of" not in told({}, set())
    assert told({"preflight": {"steps": 3}}, set())["kind"] == "pre-flight"
    trial = {"trial": {"of": "first", "finding": "bounce@train.py:3"}}
    assert told(trial, {"first"})["kind"] == "tries a fix"
    href = "/run?run=first&finding=bounce%40train.py%3A3"
    assert told(trial, {"first"})["of"] == {"lead": "of", "text": "first", "href": href}
    # A run that was removed can't be shown.
    assert told(trial, {"other"})["of"]["href"] == ""


def test_the_options_that_decide_about_a_finding_are_known() -> None:
    def of(program: str, code: str) -> list[str]:
        return [option.name for option in concerning(PROGRAMS[program].options, code)]

    assert of("tf-pin-gradients", "gradient-outside-scope") == ["gradients"]
    assert of("tf-pin-gradients", "xla-opaque") == ["jit-compile"]
    assert of("tf-pin-gradients", "bounce") == []
    concerned = {code for one in PROGRAMS.values() for option in one.options for code in option.concerns}
    assert concerned <= set(SEVERITY)


def test_what_a_lost_run_left_running_can_be_ended() -> None:
    assert [button["name"] for button in run_rows.buttons(run("running"), "lost")] == ["stop", "delete"]
    assert [button["name"] for button in run_rows.buttons(run("lost"), "lost")] == ["delete"]


def test_a_lost_run_took_until_its_last_sign(tmp_path: Path) -> None:
    lost = Run("id", tmp_path, {"name": "train"}, {"state": "running", "started": 1000.0})
    assert (
        lost.state == "lost" and run_rows.run_row(lost, NOTHING, True, NOW)["cells"]["duration"]["text"] == ""
    )
    for name, at in (("status.json", 9000), ("out.log", 1002), ("trace/main.jsonl", 1004)):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(lost.status) if name == "status.json" else "")
        os.utime(path, (at, at))
    assert run_rows.run_row(lost, NOTHING, True, NOW)["cells"]["duration"]["text"] == "4 s"


def test_a_spec_that_somebody_edited_is_still_shown() -> None:
    spec = {"env": [1], "command": "python", "versions": 3, "host": "x", "device_map": [], "cwd": None}
    assert run_header.command_text(spec) == "?"
    row = run_rows.run_row(run("finished", spec), NOTHING, True)["cells"]
    assert (row["framework"]["text"], row["devices"]["devices"]) == ("TensorFlow", [])


def test_progress_has_a_bar_where_the_end_is_known() -> None:
    progress = Progress((1, 30), (2.5, None), (None, 12.0), 120)
    row = run_rows.run_row(run("finished"), progress, True, NOW)["cells"]
    assert row["progress"]["text"] == "30 / 120" and row["progress"]["fraction"] == 0.25
    assert (row["loss"]["text"], row["speed"]["text"]) == ("2.5", "12 steps/s")
    open_ended = run_rows.progress_cell(Progress((7,), (None,), (None,)), "running")
    assert (open_ended["text"], open_ended["fraction"]) == ("step 7", None)
    assert run_rows.progress_cell(NOTHING, "running")["text"] == ""


def test_how_long_ago() -> None:
    assert [run_rows.ago(NOW - seconds, NOW) for seconds in (-5, 59, 61, 7300, 2 * 86400)] == [
        "0 s ago",
        "59 s ago",
        "1 min ago",
        "2 h ago",
        "2 d ago",
    ]


def test_stand_ins_are_always_said_to_be_such() -> None:
    spec = {"device_map": {"cpu:1": {"stand_in": True}, "gpu:0": {"uuid": "GPU-1", "name": "H200"}}}
    remarks = {
        badge["device"]: badge["remark"]
        for badge in run_rows.run_row(run("finished", spec), NOTHING, True)["cells"]["devices"]["devices"]
    }
    assert remarks == {"cpu:1": "stand-in", "gpu:0": ""}
    alike = devices_cell(["cpu:1", "cpu:2"], {"cpu:1", "cpu:2"})
    assert alike["remark"] == "stand-ins"
    hues = device_colors(["cpu:0", "cpu:1", "cpu:2"])
    assert {badge["device"]: badge["hue"] for badge in badges(["cpu:2"], hues)} == {"cpu:2": hues["cpu:2"]}


def test_the_device_map_says_which_card_and_who_told() -> None:
    mapped: dict[str, dict[str, object]] = {
        "cpu:1": {"stand_in": True},
        "gpu:0": {"uuid": "GPU-1", "name": "H200", "nvml_index": 2, "cuda_ordinal": 0, "source": "CUDA"},
        "gpu:1": {"stand_in": True, "parent_uuid": "GPU-2", "name": "H200", "also": ["GPU-3"]},
    }
    rows = {row["id"]: row["cells"] for row in run_header.map_rows(mapped)}
    assert rows["cpu:1"]["name"]["text"] == "a part of the host that plays a GPU"
    first = [rows["gpu:0"][name]["text"] for name in ("name", "nvml_index", "cuda_ordinal", "uuid", "source")]
    assert first == ["H200", "2", "0", "GPU-1", "CUDA"]
    assert rows["gpu:1"]["name"]["text"] == "a part of H200"
    assert rows["gpu:1"]["uuid"]["text"] == "GPU-2, in other processes GPU-3"


def test_the_command_is_what_a_shell_would_take() -> None:
    spec = {
        "command": ["/bin/python", "a b.py", "--x=1"],
        "cwd": "/src",
        "env": {"HOPSCOPE_TRACE": "1", "CUDA_VISIBLE_DEVICES": None},
    }
    assert run_header.command_text(spec).splitlines() == [
        "unset CUDA_VISIBLE_DEVICES",
        "export HOPSCOPE_TRACE=1",
        "cd /src",
        "/bin/python 'a b.py' --x=1",
    ]


def test_hops_are_sorted_by_bytes_and_filtered_by_row() -> None:
    hops = hop_table(
        tables(
            hop(1, "cpu:1", "cpu:2", 30, loc=1),
            hop(2, "cpu:2", "cpu:1", None, loc=2, graph=7),
            hop(3, "cpu:1", "gpu:0", 2, bytes=10_000, dst_memory="host"),
        )
    )
    made = RunRows(["cpu:1", "cpu:2", "gpu:0"], {"cpu:1"}, {7: "train_step"})
    rows = made.hops(hops, None)
    assert [row["id"] for row in rows] == ["2", "0", "1"]
    by_id = {row["id"]: row["cells"] for row in rows}
    assert by_id["0"]["total"] == {"text": "2.93 KiB", "sort": 3000, "remark": ""}
    assert by_id["0"]["within"]["text"] == "eager" and by_id["1"]["within"]["text"] == "train_step"
    # What is not known is neither 0 nor left out.
    assert by_id["1"]["count"]["text"].startswith("?") and by_id["1"]["total"]["text"] == "?"
    assert by_id["2"]["way"]["remark"] == "to host memory"
    assert [row["id"] for row in made.hops(hops, {1})] == ["1"]


def test_every_number_has_a_unit_and_every_estimate_its_basis() -> None:
    made = RunRows(["cpu:1"])
    (sync,) = made.syncs([Sync("cpu:1", "numpy", "train.py:9", 4, 8_000_000, None, "measured")])
    assert sync["cells"]["wait"]["text"] == "8 ms" and sync["cells"]["each"]["text"] == "2 ms"
    (waitless,) = made.syncs([Sync("cpu:1", "numpy", None, 4, None, None, "unknown")])
    assert waitless["cells"]["each"]["text"] == "?"
    # What is waited is all of it, copying too, told apart or not; a wait may be for all devices.
    assert sync["cells"]["copy"]["text"] == "not told apart" and waitless["cells"]["copy"]["text"] == "?"
    (split,) = made.syncs([Sync("cpu:1", "asnumpy", "a.py:9", 4, 6_000_000, 2_000_000, "estimated")])
    told = {name: split["cells"][name]["text"] for name in ("wait", "copy", "each", "basis")}
    assert told == {"wait": "8 ms", "copy": "2 ms", "each": "2 ms", "basis": "estimated"}
    (everything,) = made.syncs([Sync("", "waitall", "a.py:9", 1, 5, 0, "measured", takes=False)])
    assert everything["cells"]["device"] == {"devices": [], "remark": "all devices"}
    (far,) = made.syncs([Sync("cpu:0", "numpy", "a.py:9", 1, 5, None, "measured", waits_for="cpu:1")])
    assert far["cells"]["device"]["remark"] == "waits for cpu:1"
    assert [badge["device"] for badge in far["cells"]["device"]["devices"]] == ["cpu:0"]
    one = Collective("AllReduce", ("cpu:1",), 3, 2048, None, "ring", 5, "a.py:1", "estimated")
    (row,) = made.collectives([one])
    assert (row["cells"]["payload"]["text"], row["cells"]["wire"]["text"]) == ("2 KiB", "?")
    peaks = [Memory("cpu:1", 4096, "estimated", "by size"), Memory("x", None, "unsupported", "no")]
    told, silent = made.devices({"cpu:1": 12}, peaks)
    assert told["cells"]["peak"] == {
        "text": "4 KiB",
        "sort": 4096,
        "remark": "estimated",
        "title": "by size",
    }
    assert silent["cells"]["peak"]["remark"] == "unsupported"


def test_the_processes_of_a_run_are_told_by_role() -> None:
    def member(role: str | None, rank: int | None, index: int) -> Process:
        return process(index, role=role, rank=rank)

    def told(*members: tuple[str | None, int | None]) -> str:
        rows = [member(role, rank, index) for index, (role, rank) in enumerate(members)]
        return run_header.processes_text(tables(processes=rows))

    roles = ("worker", 1), ("scheduler", 0), ("worker", 0), ("server", 0)
    assert told(*roles) == "1 scheduler, 1 server, 2 workers"
    # A process that one of them forked is no further member.
    assert told(("worker", 0), ("worker", 0)) == "1 worker"
    assert told(("ps", 0), ("ps", 1)) == "2 ps"
    assert told((None, None)) == ""
    assert told((None, None), (None, None)) == "2 processes"


def test_steps_say_whose_they_are_and_that_a_run_goes_on_after_the_last() -> None:
    done = Progress(steps=(1, 9), loss=(None, None), rate=(None, None), total=9)

    def cell(progress: Progress, applied: int | None, state: str) -> tuple[str, str]:
        made = run_header.steps_cell(progress, applied, state)
        return made["text"], made["title"]

    own = "By the program's own count; the recorder saw "
    assert cell(done, None, "finished") == ("9 / 9", f"{own}no optimizer step")
    assert cell(done, 1, "finished") == ("9 / 9", f"{own}1 optimizer step")
    assert cell(done, 9, "running") == ("9 / 9, still running", "")
    assert cell(NOTHING, 3, "running") == ("3 so far", "")
    assert cell(NOTHING, 3, "failed") == ("3", "")
    assert cell(NOTHING, None, "running") == ("-", "")


def test_a_claim_is_told_with_what_was_measured() -> None:
    verdicts = [
        Verdict("holds", "3:1"),
        Verdict("does not hold", "1.0 times"),
        Verdict("not testable here", "x"),
    ]
    rows = claim_rows(None, verdicts, live=False)
    assert rows == [
        {"text": "holds", "tone": "good", "measured": "3:1"},
        {"text": "does not hold", "tone": "odd", "measured": "1.0 times"},
        {"text": "not testable here", "tone": "quiet", "measured": "x"},
    ]
    placed = next(iter(PROGRAMS.values()))
    timed = dataclasses.replace(placed, timed=True)
    assert [row["text"] for row in claim_rows(timed, [], live=True)] == ["measuring"]
    assert claim_rows(timed, [], live=False) == []
    assert claim_rows(dataclasses.replace(placed, timed=False), [], live=True) == []
    assert claim_rows(timed, verdicts[:1], live=True) == rows[:1]
    told = claim_rows(timed, verdicts[:1], False, "the claim is judged by 2 runs together: a, b")
    assert told == [
        *rows[:1],
        {
            "text": "not judged here",
            "tone": "quiet",
            "measured": "The claim is judged by 2 runs together: a, b, on the Lessons page.",
        },
    ]


def test_an_op_that_was_not_seen_to_run_says_so() -> None:
    seen = Member(1, "dot", "dot", "", "cpu:1", "a.py:1")
    inferred = dataclasses.replace(seen, id=2, basis="inferred")
    group = dataclasses.replace(_group("g", "cpu:1"), members=(seen, inferred))
    rows = RunRows(["cpu:1"]).members(group)
    assert [row["cells"]["assigned"]["remark"] for row in rows] == ["", "inferred"]


def test_findings_tell_their_evidence() -> None:
    costly = finding("warning", (1, 2), wait_ns=5_000_000, bytes=2048)
    found = [finding("info", (0,)), costly, finding("error")]
    lines = Excerpt("a.py", 8, ("with x:", "    y = f(x)"), 9)
    mended = Repair("Drops it.", (Edit("a.py", 9, 9, ("    y = x",)),))
    change = "@@ a.py:9 @@\n with x:\n-    y = f(x)\n+    y = x"
    beside = [("", None, None, ""), ("Because.", lines, mended, change), ("", None, None, "")]
    at = Place("a.py:9", "y = f(x)")
    stop = Stop("Made by", "Sum", at, "", at, "", "cpu:1", "")
    proof = Proof((Way((stop,), "4 B"),), 2, (Fact("Lives on", (), ("cpu:2",)),))
    rows = finding_rows(
        [Explained(one, *more, proof) for one, more in zip(found, beside, strict=True)],
        "Try",
        link=lambda name: f"/run?finding={name}",
    )
    assert [row["href"] for row in rows][1:] == ["/run?finding=bounce:1", "/run?finding=bounce@train.py:3"]
    (way,) = rows[0]["proof"]["ways"]
    (shown,) = way["stops"]
    assert (shown["asked"], shown["nothing"], shown["device"]["device"]) == (None, "no device", "cpu:1")
    # A scope that is opened in the very line is no other line.
    assert (shown["scope"], shown["by"]) == (None, "by a scope on this very line")
    assert shown["at"]["code"] == "y = f(x)" and "2 other ways" in rows[0]["proof"]["more"]
    # The text of a line stands once: the finding's own in its excerpt.
    assert finding_rows([Explained(finding("info"), *beside[0], Proof((Way((stop, stop), ""),), 0, ()))])[0][
        "proof"
    ]["ways"][0]["stops"][1]["at"] == {"site": "a.py:9", "code": "", "words": []}
    assert rows[0]["proof"]["facts"][0]["devices"][0]["device"] == "cpu:2"
    assert [row["quiet"] for row in rows] == [True, False, False]
    assert [row["show"] for row in rows] == ["Show 1 hop", "Show 2 hops", ""]
    assert [row["verify"] for row in rows] == ["", "Try", "Try"]
    assert rows[1]["evidence"] == "bytes: 2 KiB\nwait: 5 ms"
    assert (rows[1]["because"], rows[1]["fix"]) == ("Because.", "Drops it.")
    assert (rows[1]["excerpt"]["first"], rows[1]["excerpt"]["line"]) == (8, 9)
    # With one part there is no head to tell it from others.
    assert rows[1]["change"] == [
        {"kind": "kept", "text": "with x:"},
        {"kind": "removed", "text": "    y = f(x)"},
        {"kind": "added", "text": "    y = x"},
    ]
    assert (rows[0]["excerpt"], rows[2]["excerpt"], rows[2]["change"]) == (None, None, [])
    done = Stage("finished", "TensorFlow", 2, True)
    assert headline(found, done) == "1 error, 1 warning"
    assert headline(found[:1], done).startswith("none: ")
    assert fold_title(rows) == "1 note, 1 with advice" and fold_title(rows[1:]) == ""
    assert fold_title([rows[0] | {"fix": ""}]) == "1 note"
    assert evidence_text({"requested": ["gpu:0", "gpu:1"], "partial": True, "none": None}) == (
        "requested: gpu:0, gpu:1\npartial: yes"
    )


def test_a_copy_that_fails_says_that_the_change_is_why() -> None:
    raised = LastException("TypeError: no number", "train.py:8", ())
    assert verify_words.broken(raised, {"train.py:8"}) == (
        "With this change the program fails at train.py:8, a line of the change: TypeError: no number."
        " The run before did not fail."
    )
    assert verify_words.broken(raised, {"train.py:2"}).startswith(
        "With this change the program fails at train.py:8: TypeError"
    )
    nowhere = dataclasses.replace(raised, site="", said="MXNetError: shapes differ.")
    assert verify_words.broken(nowhere, ()) == (
        "With this change the program fails: MXNetError: shapes differ. The run before did not fail."
    )


def test_two_runs_side_by_side_say_what_a_change_did() -> None:
    was = Side((), 2048, 4096, 8_000_000, StepTime(10e6, 9e6, 12e6), 2)
    now = Side((), 0, 4096, None, StepTime(5e6, 4e6, 8e6), 3)
    found = Verified("bounce", "train.py:7", "gone", was, now, (), by_step=True)
    assert verify_words.headline(found) == "bounce at train.py:7 is gone"
    told = {row["id"]: [row["cells"][name]["text"] for name in ("before", "after", "change")] for row in
            verify_words.rows(found)}  # fmt: skip
    assert told == {
        "finding": ["2 KiB", "0 B", "all gone"],
        "bytes": ["4 KiB", "4 KiB", "none"],
        "stood": ["8 ms", units.UNKNOWN, ""],
        "step": ["10 ms", "5 ms", "\N{MINUS SIGN}50 %"],
        "warnings": ["2", "3", "+1"],
    }
    assert verify_words.dearer(found) == ""
    spread = dataclasses.replace(found, after=dataclasses.replace(now, bytes=6144))
    assert verify_words.dearer(spread) == ", but all in all +50 % of bytes move"
    assert verify_words.dearer(dataclasses.replace(spread, bytes_shown=2048)) == ""
    cut_short = verify_words.rows(found, whole=False)
    assert {row["cells"]["change"]["text"] for row in cut_short} == {""}
    moved = dataclasses.replace(
        found, state="eased", after=dataclasses.replace(now, found=(finding("info"),))
    )
    assert verify_words.headline(moved) == (
        "bounce at train.py:7 is a note any more, no warning, now at train.py:3"
    )
    assert verify_words.change(0.0, 5.0) == "new"
    assert verify_words.change(100_000.0, 99_999.0) == "none"  # and not -0.0 %
    assert verify_words.shown_now(found) == ""
    own = dataclasses.replace(finding("warning", (4,)), site="train.py:9")
    seen = dataclasses.replace(
        found,
        code="xla-opaque",
        before=dataclasses.replace(was, bytes_of_finding=0),
        after=dataclasses.replace(now, bytes=8192),
        new=(finding("warning", (1, 2)), own),
        shown=(4, 5),
        bytes_shown=4096,
        uncovered=True,
    )
    assert verify_words.headline(seen).endswith("is gone: this run shows what XLA hid in the one before")
    assert verify_words.shown_now(seen).startswith("2 transfers inside graphs show only now")
    bytes_row = verify_words.rows(seen)[0]["cells"]["change"]
    assert bytes_row == {"text": "none", "remark": "without 4 KiB that shows only now"}
    assert verify_words.new_told(seen) == [
        "1 new warning: bounce at train.py:3",
        "1 warning of what shows only now: bounce at train.py:9",
    ]
    likely = dataclasses.replace(now, step=StepTime(8e6, 6e6, 9.5e6))
    steps = {row["id"]: row for row in verify_words.rows(dataclasses.replace(found, after=likely))}["step"]
    assert steps["cells"]["change"] == {"text": "\N{MINUS SIGN}20 %", "remark": "within the spread"}


def test_a_mend_that_costs_time_says_so_and_of_stand_ins_that_their_times_say_little() -> None:
    was = Side((), 2048, 4096, 8e6, StepTime(10e6, 9e6, 11e6), 2)
    slow = Side((), 0, 4096, 16e6, StepTime(14e6, 13e6, 15e6), 1)
    found = Verified("bounce", "train.py:7", "gone", was, slow, (), by_step=True)
    assert verify_words.slower(found) == (
        ", but a step takes longer (+40 %) and Python stands still for 16 ms instead of 8 ms"
    )
    assert verify_words.of_times(found) == ""
    played = dataclasses.replace(found, stand_ins=True)
    assert verify_words.slower(played) == ""
    assert verify_words.of_times(played).startswith("Stand-ins copy nothing")
    assert verify_words.of_times(dataclasses.replace(played, timed=False)) == ""
    alike = dataclasses.replace(found, after=dataclasses.replace(slow, step=StepTime(14e6, 10.5e6, 15e6)))
    assert verify_words.slower(alike) == ""  # steps vary by as much
    stepless = dataclasses.replace(
        found, before=dataclasses.replace(was, step=None), after=dataclasses.replace(slow, step=None)
    )
    assert verify_words.slower(stepless) == ", but Python stands still for 16 ms instead of 8 ms"
    little = dataclasses.replace(stepless, before=dataclasses.replace(was, step=None, stood_ns=15.5e6))
    assert verify_words.slower(little) == ""
    both = dataclasses.replace(stepless, after=dataclasses.replace(slow, step=None, bytes=6144))
    assert verify_words.cost(both) == (
        ", but all in all +50 % of bytes move, and Python stands still for 16 ms instead of 8 ms"
    )


def test_what_is_missing_is_put_down_to_how_far_the_run_is() -> None:
    starting, going = Stage("running", "TensorFlow"), Stage("running", "TensorFlow", 2, True)
    assert starting.alone == starting.uncrossed == "The program is still starting."
    assert going.uncrossed == "Nothing has crossed between devices so far."
    assert headline([], starting) == headline([], going) == "none so far"
    early = Stage("failed", "TensorFlow")
    assert early.uncrossed == "Nothing was recorded: the program ended before TensorFlow ran."
    assert headline([], early) == "nothing was recorded: the program ended before TensorFlow ran"
    assert headline([], Stage("failed", "TensorFlow", 2, True)) == "none up to where it ended"
    alone = Stage("finished", "TensorFlow", 1, True)
    assert alone.alone == "One device only: nothing can cross."


def test_the_speed_is_that_of_the_last_lines_together() -> None:
    # 10 steps in 1 s, then 10 in 4 s; the first line, which has the tracing in it, does not count.
    assert Progress((1, 11, 21), (None,) * 3, (0.1, 10.0, 2.5)).recent_rate == 4.0
    assert Progress((1,), (None,), (0.1,)).recent_rate == 0.1
    assert NOTHING.recent_rate is None
    steady = Progress(tuple(range(1, 42)), (None,) * 41, (0.5,) * 31 + (20.0,) * 10)
    assert round(steady.recent_rate or 0, 9) == 20


def test_devices_that_only_the_trace_knows_are_shown(tmp_path: Path) -> None:
    def shown(folder: Path) -> list[tuple[str, str]]:
        given = Run("id", folder, {"name": "train"}, {"state": "running"})
        cell = run_rows.run_row(given, NOTHING, True, NOW)["cells"]["devices"]
        return [(badge["device"], badge["remark"]) for badge in cell["devices"]]

    assert shown(tmp_path) == []
    trace = Trace(tmp_path)
    assert shown(tmp_path) == []
    trace.writer.append(["I", 9, {"devices": ["cpu:0", "gpu:1", "gpu:0"], "device_map": {}}])
    assert shown(tmp_path) == [("gpu:0", ""), ("gpu:1", "")]
    Trace(tmp_path / "host").writer.append(["I", 9, {"devices": ["cpu:0"]}])
    assert shown(tmp_path / "host") == [("cpu:0", "host")]


def _group(name: str, device: str) -> Group:
    return Group(name, name, name, device, 1, (), 0, 1, False, False, "op", None)


def _crossing(hops: tuple[int, ...]) -> Crossing:
    return Crossing("a>b", "a", "b", "cpu:1", "cpu:2", 1, 1, hops, "explicit", "info", ())


DIAGRAM = Diagram((), (_group("a", "cpu:1"), _group("b", "cpu:2")), (_crossing((0,)),), 1, 0)


def test_each_kind_of_pick_reaches_all_views() -> None:
    hops = hop_table(tables(hop(1, "cpu:1", "cpu:2", 3), hop(2, "cpu:2", "cpu:1", 3)))
    found = [finding("warning", (1,))]

    def pick(address: RunAddress) -> Any:
        return focus_of(address, hops, DIAGRAM, found)

    nothing = pick(RunAddress())
    assert nothing.rows is None and not nothing.selection and not nothing.label
    pair = pick(RunAddress(pair=("cpu:1", "cpu:2")))
    assert (pair.rows, pair.selection) == (frozenset({0}), Selection(pair=("cpu:1", "cpu:2")))
    assert pick(RunAddress(crossing="a>b")).rows == frozenset({0})
    group = pick(RunAddress(group="b"))
    assert group.rows == frozenset({0}) and group.group is DIAGRAM.groups[1]
    by_finding = pick(RunAddress(finding=finding_id(found[0])))
    assert by_finding.selection == Selection(hops=frozenset({1}))
    assert pick(RunAddress(finding=finding_name(found[0]))) == by_finding
    both = pick(RunAddress(pair=("cpu:2", "cpu:1"), hop=1))
    assert both.rows == frozenset({1}) and both.selection == Selection(hops=frozenset({1}))
    for name in ("group", "crossing", "finding"):
        assert pick(RunAddress(**{name: "gone"})) == nothing  # type: ignore[arg-type]
    assert pick(RunAddress(hop=99)) == nothing


def test_a_finding_about_no_transfer_picks_its_line() -> None:
    waits = dataclasses.replace(finding("warning"), code="host-sync")
    focus = focus_of(RunAddress(finding="host-sync@train.py:3"), [], DIAGRAM, [waits])
    assert (focus.label, focus.site, focus.rows) == ("host-sync at train.py:3", "train.py:3", None)


def test_a_hop_that_a_finding_took_over_says_so() -> None:
    (one,) = hop_table(tables(hop(1, "cpu:1", "cpu:2", 3)))
    told = dataclasses.replace(one, told=("bounce", "warning"))
    own, taken = (row["cells"]["cause"] for row in RunRows(["cpu:1", "cpu:2"]).hops([one, told], None))
    assert (own["text"], own["remark"]) == (one.cause.code, "")
    assert taken == {"text": "bounce", "tone": "alert", "remark": f"by itself {one.cause.code}"}


def test_a_recorder_that_failed_is_not_told_as_a_program_that_ran_nothing() -> None:
    stage = Stage("finished", "TensorFlow", 0, False, "the recorder can't follow it: ImportError: x")
    assert stage.empty == "Nothing was recorded: the recorder can't follow it: ImportError: x."
    assert not dataclasses.replace(stage, state="running").starting


def test_the_timeline_keeps_the_lanes_that_belong_to_a_pick() -> None:
    hops = hop_table(tables(hop(1, "cpu:1", "cpu:2", 3)))
    focus = focus_of(RunAddress(pair=("cpu:1", "cpu:2")), hops, DIAGRAM, ())
    lanes = [
        Lane("call", "train_step", "call"),
        Lane("op", "cpu:1", "op", "cpu:1"),
        Lane("other", "cpu:3", "op", "cpu:3"),
        Lane("way", "cpu:1 → cpu:2", "hop", "cpu:2"),
        Lane("elsewhere", "cpu:3 → cpu:2", "hop", "cpu:2"),
    ]
    assert [lane.id for lane in lanes if focus.shows(lane)] == ["call", "op", "way"]


def test_what_a_copy_changes_is_told_by_lines() -> None:
    assert verify_words.changed_lines("x = 1\ny = 2\n", "x = 1\ny = 3\n") == [
        {"kind": "kept", "text": "x = 1"},
        {"kind": "removed", "text": "y = 2"},
        {"kind": "added", "text": "y = 3"},
    ]
    assert [row["text"] for row in verify_words.changed_lines("x = 1\n", "x = 1")] == ["No line differs."]


def test_columns_of_waits_that_no_row_fills_take_no_room() -> None:
    plain = Sync("cpu:1", "numpy", "t.py:3", 4, 2_000_000, None, "measured")
    names = [column.name for column in sync_columns([plain])]
    assert "step" not in names and "idle" not in names
    full = dataclasses.replace(plain, step_ns=5, idle=(Idle("cpu:2", 0.5),))
    assert {"step", "idle"} <= {column.name for column in sync_columns([plain, full])}


def test_the_runs_that_tried_a_fix_stand_at_its_finding() -> None:
    def trial(name: str, finding: str, of: str = "first") -> Run:
        spec = {"name": "t", "trial": {"of": of, "finding": finding}}
        return Run(name, Path("/runs") / name, spec, {"state": "finished"})

    name = "bounce@train.py:3"
    others = [trial("x", name, of="other"), run("finished")]
    tries = tries_of("first", [trial("new", name), *others, *(trial(f"old{n}", name) for n in range(5))])
    assert [one["text"] for one in tries[name]] == ["new", "old0", "old1"]
    assert tries[name][0] == {"text": "new", "state": "finished", "href": "/run?run=new"}
    nothing = Explained(finding("warning", (0,)), "", None, None, "", Proof((), 0, ()))
    (row,) = finding_rows([nothing], tries=tries)
    assert row["tries"] == tries[name]
