"""The list of runs: kept once for all viewers, who are sent the part in view and what changes in it."""

from __future__ import annotations

import asyncio
import datetime
import json
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from app.components.runs.listing import MOST_ROWS, ListingHub, View, Wish
from app.web.runs.runs_table import RunsTable
from runners.runs import registry
from tests.unit.viewers import Socket, in_loop

RUNS = 250
LONG_AGO = time.time() - 3600
NOBODY = 2**22 + 1


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    for number in range(RUNS):
        make(tmp_path, number)
    return tmp_path


def run_id(number: int) -> str:
    return f"20260101-{number:06d}-train-{number:04d}"


def make(home: Path, number: int, spec: Any = None, **status: Any) -> Path:
    path = home / "runs" / run_id(number)
    path.mkdir(parents=True)
    named = {"name": f"train {number}", "device_map": {"cpu:1": {"stand_in": True}}} if spec is None else spec
    created = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC) + datetime.timedelta(minutes=number)
    (path / "spec.json").write_text(json.dumps({**named, "created": created.isoformat()}))
    ended = {"state": "finished", "exit_code": 0, "started": 10.0, "ended": 10.0 + number}
    (path / "status.json").write_text(json.dumps(ended | status))
    (path / "out.log").write_text(f"step {number}/{RUNS} loss {number / 7:.3f}\n")
    for one in (path / "spec.json", path / "status.json", path):
        os.utime(one, (LONG_AGO, LONG_AGO))
    return path


def table() -> RunsTable:
    made = RunsTable(registry.index.look)
    made.look()
    return made


def ids(view: View) -> list[str]:
    return list(view.rows)


def test_what_is_not_in_view_is_not_worked_out(home: Path, opened: list[str]) -> None:
    made = table()
    del opened[:]
    view = made.view(Wish(), True)
    assert ids(view) == [run_id(number) for number in reversed(range(RUNS - MOST_ROWS, RUNS))]
    assert len(opened) == MOST_ROWS, "the log of each row in view"
    assert (view.head["total"], view.head["found"], view.head["going_on"]) == (RUNS, RUNS, 0)


def test_nothing_is_read_and_nothing_made_while_nothing_changes(home: Path, opened: list[str]) -> None:
    made = table()
    wishes = [Wish(), Wish(first=100), Wish(find="train 1"), Wish(sort="loss", way=-1)]
    before = [made.view(wish, operator) for wish in wishes for operator in (True, False)]
    del opened[:]
    made.look()
    after = [made.view(wish, operator) for wish in wishes for operator in (True, False)]
    assert opened == []
    assert after == before
    assert all(
        one.rows[row] is two.rows[row] for one, two in zip(before, after, strict=True) for row in one.rows
    )


def test_runs_that_were_lost_are_not_read_again_either(home: Path, opened: list[str]) -> None:
    for number in range(300, 310):
        status = {"state": "running", "supervisor_pid": NOBODY, "supervisor_start": 1, "boot_id": "another"}
        make(home, number, **status)
    made = table()
    before = made.view(Wish(), True)
    assert '"lost"' in before.rows[run_id(305)]
    del opened[:]
    made.look()
    assert made.view(Wish(), True) == before
    assert opened == []


def test_it_is_searched_sorted_and_cut_here(home: Path) -> None:
    made = table()
    found = made.view(Wish(find="TRAIN 24"), True)
    assert ids(found) == [run_id(number) for number in (*range(249, 239, -1), 24)]
    assert found.head["found"] == 11
    assert ids(made.view(Wish(sort="loss", way=-1), True))[:3] == [run_id(249), run_id(248), run_id(247)]
    assert ids(made.view(Wish(sort="duration"), True))[:3] == [run_id(0), run_id(1), run_id(2)]
    assert ids(made.view(Wish(sort="run"), True))[:2] == [run_id(0), run_id(1)]
    assert ids(made.view(Wish(first=200), True))[-1] == run_id(0)
    assert ids(made.view(Wish(sort="nothing of it"), True))[:1] == [run_id(249)]
    assert ids(made.view(Wish(first=10**8), True)) == []


def test_viewers_get_no_buttons(home: Path) -> None:
    made = table()
    for operator in (True, False):
        row = json.loads(made.view(Wish(), operator).rows[run_id(9 + 240)])
        assert bool(row["cells"]["actions"]["actions"]) is operator


def test_what_changes_shows(home: Path) -> None:
    made = table()
    before = made.view(Wish(), True)
    path = home / "runs" / run_id(249)
    (path / "new").write_text(json.dumps({"state": "failed", "reason": "exited with status 3"}))
    (path / "new").rename(path / "status.json")
    make(home, 400)
    registry.remove(registry.named(run_id(248)))
    (home / "runs" / "broken").mkdir()
    made.look()
    after = made.view(Wish(), True)
    assert "exited with status 3" in after.rows[run_id(249)]
    assert ids(after)[:3] == [run_id(400), run_id(249), run_id(247)]
    assert list(after.broken) == ["broken"]
    same = set(before.rows) & set(after.rows) - {run_id(249)}
    assert all(after.rows[row] is before.rows[row] for row in same)


def test_a_tried_runs_link_goes_with_the_run(home: Path) -> None:
    make(home, 300, spec={"name": "again", "trial": {"of": run_id(7), "finding": "host-sync@a.py:1"}})
    made = table()
    assert f"/run?run={run_id(7)}" in made.view(Wish(), True).rows[run_id(300)]
    registry.remove(registry.named(run_id(7)))
    made.look()
    assert f"/run?run={run_id(7)}" not in made.view(Wish(), True).rows[run_id(300)]


@pytest.mark.parametrize("first", [-5, 10**400, True, "1", None, 1.5, [], {"a": 1}])
def test_odd_wishes_are_for_the_beginning_or_beyond_the_end(first: Any) -> None:
    wish = Wish.read({"first": first, "find": 7, "sort": [], "way": "up"})
    assert wish.first in (0, 10**9)
    assert (wish.find, wish.sort, wish.way) == ("", "", 1)
    assert len(Wish.read({"find": "x" * 9999}).find) <= 200


class Counted:
    """A table that counts how often it is looked at."""

    def __init__(self, made: RunsTable) -> None:
        self.made = made
        self.looks = 0

    def look(self) -> None:
        self.made.look()
        self.looks += 1

    def view(self, wish: Wish, operator: bool) -> View:
        return self.made.view(wish, operator)


class Served:
    """A hub over the registry, and its viewers."""

    def __init__(self) -> None:
        self.table = Counted(RunsTable(registry.index.look))
        self.hub = ListingHub(self.table, every_s=0.01)
        self._served: list[tuple[Socket, asyncio.Task[None]]] = []

    async def enter(self, operator: bool = False, **wish: Any) -> Socket:
        """Let a viewer in, who asks for a part and has got it."""
        socket = Socket()
        self._served.append((socket, asyncio.create_task(self.hub.serve(socket, operator))))
        socket.ask(**wish)
        await socket.received(1)
        return socket

    async def looked(self, more: int) -> None:
        """Wait for so many more looks."""
        until = self.table.looks + more
        async with asyncio.timeout(60):
            while self.table.looks < until:
                await asyncio.sleep(0)

    async def leave(self) -> None:
        for socket, task in self._served:
            socket.wishes.put_nowait(None)
            async with asyncio.timeout(60):
                await task
        self._served.clear()


def serve(visit: Callable[[Served], Awaitable[None]]) -> None:
    async def main() -> None:
        served = Served()
        await visit(served)
        await served.leave()

    in_loop(main)


def test_nothing_is_sent_while_nothing_changes(home: Path) -> None:
    async def visit(served: Served) -> None:
        sockets = [await served.enter() for _ in range(3)]
        for socket in sockets:
            (first,) = await socket.received(1)
            assert len(first["rows"]) == MOST_ROWS
        await served.looked(20)
        assert [len(socket.texts) for socket in sockets] == [1, 1, 1]
        make(home, 500)
        for socket in sockets:
            _, news = await socket.received(2)
            assert [row["id"] for row in news["rows"]] == [run_id(500)]
            assert news["order"][:2] == [run_id(500), run_id(249)]
            assert "broken" not in news

    serve(visit)


def test_a_row_that_changes_comes_alone(home: Path) -> None:
    async def visit(served: Served) -> None:
        socket = await served.enter()
        path = home / "runs" / run_id(249)
        (path / "new").write_text(json.dumps({"state": "failed", "reason": "exited with status 3"}))
        (path / "new").rename(path / "status.json")
        news = (await socket.received(2))[-1]
        assert [row["id"] for row in news["rows"]] == [run_id(249)]
        assert "order" not in news and "broken" not in news
        assert len(socket.texts[-1]) < 3000

    serve(visit)


def test_another_part_of_the_list_comes_when_asked_for(home: Path) -> None:
    async def visit(served: Served) -> None:
        socket = await served.enter(operator=True)
        for wish, ids_shown in (
            ({"find": "train 249"}, [run_id(249)]),
            ({"first": 200}, [run_id(number) for number in reversed(range(50))]),
        ):
            socket.ask(**wish)
            news = (await socket.received(len(socket.texts) + 1))[-1]
            assert news["order"] == ids_shown

    serve(visit)


def test_it_is_looked_at_only_for_somebody(home: Path) -> None:
    async def visit(served: Served) -> None:
        assert served.table.looks == 0
        await served.enter()
        await served.looked(3)
        await served.leave()
        assert served.hub.idle
        # Who comes later is sent what is there by then.
        make(home, 501)
        socket = await served.enter()
        await served.looked(2)
        assert run_id(501) in json.loads(socket.texts[-1])["order"]

    serve(visit)


def test_a_list_that_cannot_be_read_says_so_and_comes_back(home: Path) -> None:
    async def visit(served: Served) -> None:
        socket = await served.enter()
        (home / "runs").rename(home / "elsewhere")
        (home / "runs").touch()
        # A look between the two sees no folder, and says nothing of a problem.
        count = 2
        while not (news := (await socket.received(count))[-1])["problem"]:
            count += 1
        assert "cannot be listed" in news["problem"]
        (home / "runs").unlink()
        (home / "elsewhere").rename(home / "runs")
        while (await socket.received(count))[-1]["problem"]:
            count += 1

    serve(visit)
