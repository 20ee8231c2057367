"""Markup in all names of a run, its log, its spec and a recording: a real browser shows it as text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Server, settled
from tests.hostile.entrances.state import snapshot
from tests.hostile.folders import put_folder
from tests.hostile.material import MARK
from tests.hostile.seeds import seeds

TABS = ("Placement", "Source", "Timeline", "Memory", "Syncs", "Training", "Log", "Command")
NAMES = (
    f"<img src=x onerror=window.{MARK}=1 class={MARK}>",
    f"<script>window.{MARK}=1</script><{MARK}>",
    f'"><svg onload=window.{MARK}=1 class={MARK}>',
    f"[{MARK}](http://192.0.2.1/) ![{MARK}](http://192.0.2.1/x.png)",
    f"**{MARK}** ${MARK}$ :red[{MARK}] `{MARK}`",
    f'<a href="javascript:window.{MARK}=1" class={MARK}>{MARK}</a><b class={MARK}>',
    f"\x1b[31m{MARK}\u202e\x07",
)
FOREIGN = f"""() => ({{
  ran: window.{MARK} ?? null,
  elements: document.querySelectorAll('.{MARK}, {MARK}').length,
  links: [...document.querySelectorAll('a')].map((a) => a.href)
    .filter((href) => /^http:..192\\.0\\.2\\.1|^javascript/.test(href)),
  katex: document.querySelectorAll('.katex').length,
  bold: [...document.querySelectorAll('strong, em')].filter((one) => one.textContent === '{MARK}').length,
}})"""


def marked(value: Any, at: int = 0) -> Any:
    """The value with markup in each of its texts that is no device, type or file of Hopscope's own words."""
    if isinstance(value, str):
        return f"{value}{NAMES[at % len(NAMES)]}"
    if isinstance(value, list):
        return [marked(part, at + number) for number, part in enumerate(value)]
    return value


def hostile_trace(lines: tuple[bytes, ...]) -> bytes:
    made = []
    for number, line in enumerate(lines):
        row = json.loads(line)
        if row[0] == "S" and not row[2].startswith(("/", "cpu:", "gpu:")):
            site, mark, place = row[2].rpartition(":")
            row[2] = f"{marked(site, number)}:{place}" if mark and place.isdigit() else marked(row[2], number)
        elif row[0] == "K":
            for name in ("tensor", "producer", "consumers", "dtype", "shape", "function", "name", "why"):
                if row[3].get(name):
                    row[3][name] = marked(row[3][name], number)
        elif row[0] == "G":
            row[2]["name"] = marked(row[2]["name"], number)
        made.append(json.dumps(row).encode())
    return b"\n".join(made) + b"\n"


@pytest.fixture(scope="module")
def hostile_runs(server: Server) -> list[str]:
    """Runs of the server's home all of whose names are markup."""
    names = []
    for number, seed in enumerate(seeds()[1::6]):
        spec = json.loads(seed.files["spec.json"])
        spec |= {"name": NAMES[number % len(NAMES)], "command": marked(spec["command"])}
        spec["versions"] = {NAMES[0]: NAMES[1]}
        status = json.loads(seed.files["status.json"]) | {
            "state": "failed",
            "exit_code": 1,
            "reason": NAMES[5],
        }
        log = "\n".join((*NAMES, f"verdict holds: {NAMES[0]}", "step 1/2 loss 0.5 3 steps/s")) + "\n"
        log += f'Traceback (most recent call last):\n  File "/src/{NAMES[3]}.py", line 3\n'
        log += f"ValueError: {NAMES[0]}\n"
        names.append(f"20261122-1919{number:02}-hostile-{number:04}")
        put_folder(
            server.home / "runs" / names[-1],
            {
                **seed.files,
                "trace/main.jsonl": hostile_trace(seed.trace),
                "trace/main.counts": seed.counts,
                "spec.json": json.dumps(spec).encode(),
                "status.json": json.dumps(status).encode(),
                "out.log": log.encode(),
            },
        )
    return names


def check(page: Any) -> None:
    settled(page)
    assert page.locator('[data-testid="stException"]').count() == 0
    found = page.evaluate(FOREIGN)
    assert found == {"ran": None, "elements": 0, "links": [], "katex": 0, "bold": 0}


def test_every_tab_of_a_run_shows_markup_as_text(server: Server, hostile_runs: list[str], page: Any) -> None:
    for run in hostile_runs:
        for tab in TABS:
            page.goto(f"{server.url}/run?run={run}&tab={tab}")
            check(page)
        assert MARK in page.inner_text("body")


def test_the_list_of_runs_shows_markup_as_text(server: Server, hostile_runs: list[str], page: Any) -> None:
    page.goto(f"{server.url}/runs")
    page.get_by_text(MARK).first.wait_for()
    check(page)


@pytest.mark.parametrize(
    "path", ["run?run={0}", "?replay={0}", "launch?program={0}", "lessons?lesson={0}", "run?verify={0}"]
)
def test_an_address_is_never_markup(server: Server, hostile_runs: list[str], page: Any, path: str) -> None:
    quoted = "".join(f"%{byte:02x}" for byte in " ".join(NAMES[:6]).encode())
    page.goto(f"{server.url}/{path.format(quoted)}")
    check(page)


def test_a_replayed_machine_shows_markup_as_text(server: Server, page: Any, tmp_path: Path) -> None:
    header = {"format": "hopscope-recording", "version": 1, "made": "2026-11-22T19:00:00+00:00", "hz": 1.0}
    header |= {"hostname": NAMES[0], "hopscope": NAMES[1], "gpus": [NAMES[2]]}
    lines: list[Any] = [header]
    for number in range(5):
        sample = snapshot(number)
        gpu = sample["gpus"][0]
        gpu |= {"name": NAMES[2], "throttle_reasons": [NAMES[4]]}
        gpu["processes"][0] |= {"user": NAMES[0], "command": NAMES[5]}
        sample["host"]["hostname"] = NAMES[1]
        lines.append(sample | {"driver": NAMES[3]})
    folder = server.home / "recordings"
    folder.mkdir(exist_ok=True)
    (folder / "hostile.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    page.goto(f"{server.url}/?replay=hostile.jsonl")
    page.get_by_text(MARK).first.wait_for()
    check(page)
