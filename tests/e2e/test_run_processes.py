"""A run of several processes, of flat op names: told by role, with its claim and its notes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.conftest import Server
from tests.e2e.run_page import RunPage, expect
from tests.unit.traces import SECOND, Trace, hop_fields

RUN = "20260101-120000-mx-dist-sync-ab12"
SERIALISED = "the engine runs one operation at a time: times are not those of a normal run"
STEPS = 10


def _worker(folder: Path, rank: int) -> None:
    trace = Trace(folder, f"worker-{rank}", role="worker", rank=rank, framework="mxnet", pid=10 + rank)
    devices = ["cpu:0", "cpu:1"]
    trace.facts(devices=devices, device_map={"cpu:1": {"stand_in": True}}, serialised=SERIALISED)
    forward, step, look = (trace.location(f"train.py:{line}") for line in (40, 44, 45))
    graph = trace.graph("net", loc=forward)
    for number, name in enumerate(("fc1", "softmax", "softmax_backward", "fc1_backward"), 1):
        trace.node(graph, number, name, "Op", "cpu:1", loc=forward)
        if number > 1:
            trace.edge(graph, number - 1, number)
    call = trace.key("call", STEPS, graph=graph, function="net", loc=forward)
    mark = trace.key("mark", STEPS, name="step")
    sync = trace.key(
        "sync", STEPS, device="cpu:1", kind="asscalar", loc=look, bytes=4, basis="measured", split=True
    )
    for number in range(STEPS):
        trace.event("call", number * SECOND // 10, call, SECOND // 50, step=number)
        trace.event(
            "sync", number * SECOND // 10 + SECOND // 40, sync, 3_000_000, step=number, value=1_000_000
        )
        trace.event("mark", number * SECOND // 10 + SECOND // 20, mark, step=number + 1)
    exchange: dict[str, object] = {"collective": "kvstore dist_sync, summed on cpu:1"}
    exchange |= {"summed_on": "cpu:1", "exchange_devices": ["cpu:1"]}
    for src, dst, op in (("cpu:1", "server:0/cpu:0", "push"), ("server:0/cpu:0", "cpu:1", "pull")):
        fields = {"op": f"kvstore {op}", "tensor": "fc1_weight", "loc": step, "bytes": 1024}
        trace.key("hop", STEPS, **hop_fields(src, dst, **fields, basis="inferred", facts=exchange))
    pulled = {"kind": "pull", "op": "Python", "tensor": "loss", "loc": look, "bytes": 4}
    trace.key("hop", STEPS, **hop_fields("cpu:1", "cpu:0", **pulled, facts={"sync": "asscalar"}))
    trace.key("mixed", STEPS, op="dot", device="cpu:1", reads=["cpu:0"], bytes=8, loc=look, outcome="read")
    trace.close()


@pytest.fixture(scope="module")
def distributed(hopscope_home: Path) -> str:
    """A finished run of a scheduler, a server and two workers, whose claim was measured."""
    folder = hopscope_home / "runs" / RUN
    for role in ("scheduler", "server"):
        trace = Trace(folder, f"{role}-0", role=role, rank=0, framework="mxnet")
        trace.facts(devices=["cpu:0"])
        if role == "server":
            trace.key("op", STEPS, op="update", device="cpu:0", requested="", loc=0)
        trace.close()
    for rank in (0, 1):
        _worker(folder, rank)
    (folder / "out.log").write_text(
        "worker-0  | verdict holds: all 8 weights are <b>equal</b>\n"
        "worker-1  | verdict holds: all 8 weights are <b>equal</b>\n"
        "worker-0  | verdict not testable here: one processor. 31 steps/s (30..32)\n"
    )
    spec: dict[str, object] = {"run": RUN, "kind": "program", "name": "mx-dist-sync", "framework": "mxnet"}
    spec |= {"created": "2026-01-01T12:00:00+00:00", "command": ["python", "train.py"], "env": {}}
    (folder / "spec.json").write_text(json.dumps(spec))
    status = {"state": "finished", "exit_code": 0, "started": 1767268800.0, "ended": 1767268801.0}
    (folder / "status.json").write_text(json.dumps(status))
    return RUN


@pytest.fixture
def run_page(page: object) -> RunPage:
    return RunPage(page)


def test_the_head_tells_processes_notes_and_what_the_claim_came_to(
    server: Server, distributed: str, run_page: RunPage
) -> None:
    run_page.open(server, distributed)
    expect(run_page.fact("processes")).to_have_text("1 scheduler, 1 server, 2 workers")
    note = run_page.fact("note-serialised")
    expect(note).to_have_text("serialised")
    expect(note).to_have_attribute("title", SERIALISED)
    verdicts = run_page.page.get_by_test_id("verdict")
    expect(verdicts).to_have_count(3)
    expect(verdicts.nth(0)).to_have_attribute("data-verdict", "holds")
    expect(verdicts.nth(0)).to_contain_text("all 8 weights are <b>equal</b>")
    expect(verdicts.nth(1)).to_contain_text("one processor. 31 steps/s (30..32)")
    # One run alone does not come to what the claim says of several.
    expect(verdicts.nth(2)).to_contain_text("on the Lessons page")
    expect(run_page.page.get_by_test_id("claim")).to_contain_text("dist_sync")


def test_what_is_about_no_transfer_is_a_finding_and_not_picked(
    server: Server, distributed: str, run_page: RunPage
) -> None:
    run_page.open(server, distributed)
    found = run_page.page.get_by_test_id("finding")
    expect(found.first).to_have_attribute("data-code", "mixed-context")
    expect(found.first).to_have_attribute("data-severity", "error")
    expect(run_page.page.locator('[data-testid="finding"].on')).to_have_count(0)
    expect(run_page.page.locator("details.fold[open]")).to_have_count(0)


def test_devices_stand_by_process_and_who_only_directs_has_no_place(
    server: Server, distributed: str, run_page: RunPage
) -> None:
    run_page.open(server, distributed)
    cells = run_page.cells()
    assert cells[("worker:0/cpu:1", "server:0/cpu:0")].startswith("10 KiB")
    assert not any("scheduler:0" in device for pair in cells for device in pair)
    groups = run_page.diagram.get_by_test_id("group")
    expect(groups.first).to_be_visible()
    drawn = groups.evaluate_all("nodes => nodes.map((node) => [node.dataset.device, node.dataset.label])")
    # Both workers' graphs at once, the backward pass apart.
    for worker in ("worker:0/cpu:1", "worker:1/cpu:1"):
        assert {label for device, label in drawn if device == worker} >= {"fc1", "softmax", "\u2207fc1"}


def test_waiting_and_copying_are_told_apart(server: Server, distributed: str, run_page: RunPage) -> None:
    run_page.open(server, distributed, tab="Syncs")
    table = run_page.page.get_by_test_id("table-syncs")
    expect(table.locator("tbody tr")).to_have_count(2)
    for column, text in (("wait", "30 ms"), ("copy", "10 ms"), ("each", "3 ms")):
        expect(table.locator(f'tbody tr >> nth=0 >> [data-column="{column}"]')).to_have_text(text)
