"""The registry over folders that were written by hand."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

import pytest

from runners.errors import HopscopeError, UsageError
from runners.runs import registry
from runners.runs.processes import boot_id, identify


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    (tmp_path / "runs").mkdir()
    return tmp_path


def make(home: Path, run_id: str, status: Any = None, spec: Any = None) -> Path:
    folder = home / "runs" / run_id
    folder.mkdir()
    for name, value in (("spec.json", spec), ("status.json", status)):
        if value is not None:
            (folder / name).write_text(value if isinstance(value, str) else json.dumps(value))
    return folder


def finished(**more: Any) -> dict[str, Any]:
    return {"state": "finished", "exit_code": 0, "signal": None, "reason": None} | more


def watched_by(pid: int, start: int, boot: str | None = None) -> dict[str, Any]:
    boot = boot or boot_id()
    return {"state": "running", "supervisor_pid": pid, "supervisor_start": start, "boot_id": boot}


def me() -> tuple[int, int]:
    identity = identify(os.getpid())
    assert identity is not None
    return identity.pid, identity.start


def test_home_is_the_users_data_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HOPSCOPE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    assert registry.home() == tmp_path / ".local" / "share" / "hopscope"
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert registry.home() == Path("/data/hopscope")
    monkeypatch.setenv("HOPSCOPE_HOME", "~/elsewhere")
    assert registry.home() == tmp_path / "elsewhere"


def test_no_folder_is_no_runs(home: Path) -> None:
    assert registry.runs() == []
    (home / "runs").rmdir()
    assert registry.runs() == []


def test_newest_first_by_launch_time(home: Path) -> None:
    make(home, "20260102-000000-b-0001", finished(), {"created": "2026-01-02T00:00:00.500+00:00"})
    make(home, "20260102-000000-a-0002", finished(), {"created": "2026-01-02T00:00:00.900+00:00"})
    make(home, "20260103-000000-c-0003", finished(), {})
    make(home, "zebra", finished(), {"created": "2020-01-01T00:00:00+00:00"})
    assert [run.id for run in registry.runs()] == [
        "20260103-000000-c-0003",
        "20260102-000000-a-0002",
        "20260102-000000-b-0001",
        "zebra",
    ]


BROKEN: dict[str, tuple[Any, Any, str, str]] = {
    "empty-folder": (None, None, "lost", "spec.json is missing; status.json is missing"),
    "torn-status": ('{"state": "runn', {}, "lost", "status.json is damaged: it is not JSON"),
    "list-status": ([1], {}, "lost", "status.json is damaged: it does not hold a JSON object"),
    "odd-state": ({"state": "flying"}, {}, "lost", 'status.json is damaged: its state is "flying"'),
    "no-state": ({}, {}, "lost", "status.json is damaged: its state is null"),
    "text-pid": (
        {"state": "running", "supervisor_pid": "1", "supervisor_start": 1, "boot_id": "x"},
        {},
        "lost",
        "the process that watched it is gone, so how it ended is not known; "
        "status.json is damaged: supervisor_pid has a value of a wrong type",
    ),
    "torn-spec": (finished(), "{", "finished", "spec.json is damaged: it is not JSON"),
    "no-spec": (finished(reason="said"), None, "finished", "said; spec.json is missing"),
}


def test_broken_folders_hide_nothing_and_say_why(home: Path) -> None:
    for name, (status, spec, _, _) in BROKEN.items():
        make(home, name, status, spec)
    make(home, "whole", finished(), {"created": "2026-01-01T00:00:00+00:00", "name": "x"})
    (home / "runs" / "a-file").touch()
    (home / "runs" / ".new-run").mkdir()
    (home / "runs" / "dangling").symlink_to("nowhere")
    found = {run.id: run.judge() for run in registry.runs()}
    expected = {name: (state, reason) for name, (_, _, state, reason) in BROKEN.items()}
    link = "it is a link, which is not followed; give the path of the folder that it leads to"
    assert found == expected | {"whole": ("finished", None), "dangling": ("lost", link)}
    for run in registry.runs():
        assert run.ended
        assert run.created > 0
        assert isinstance(run.name, str)
        registry.remove(run)
    assert registry.runs() == []


@pytest.mark.skipif(os.getuid() == 0, reason="root reads everything")
def test_a_folder_that_may_not_be_read_is_listed(home: Path) -> None:
    make(home, "secret", finished(), {}).chmod(0)
    assert registry.runs()[0].state == "lost"


def test_running_means_that_its_supervisor_is_that_very_process(home: Path) -> None:
    pid, start = me()
    make(home, "mine", watched_by(pid, start), {})
    make(home, "same-pid-later", watched_by(pid, start - 1), {})
    make(home, "another-boot", watched_by(pid, start, "0000"), {})
    make(home, "gone", watched_by(2**22 + 1, 1), {})
    states = {run.id: run.state for run in registry.runs()}
    assert states == {"mine": "running", "same-pid-later": "lost", "another-boot": "lost", "gone": "lost"}


def test_a_zombie_supervisor_watches_nothing(home: Path) -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    zombie = identify(child)
    assert zombie is not None
    make(home, "z", watched_by(zombie.pid, zombie.start), {})
    assert registry.find("z").state == "lost"
    # It is this process's to reap, and has been by now.
    assert identify(child) is None


def test_an_end_between_two_looks_is_not_a_loss(home: Path) -> None:
    folder = make(home, "quick", watched_by(2**22 + 1, 1), {})
    run = registry.find("quick")
    (folder / "status.json").write_text(json.dumps(finished()))
    assert run.state == "finished"


def test_starting_lasts_as_long_as_its_launcher(home: Path) -> None:
    pid, start = me()
    status = {"state": "starting", "launcher_pid": pid, "launcher_start": start, "boot_id": boot_id()}
    make(home, "s", status, {})
    make(home, "t", status | {"launcher_start": start - 1}, {})
    assert registry.find("s").state == "starting"
    assert registry.find("t").state == "lost"


def test_find_takes_id_beginning_and_path(home: Path, tmp_path: Path) -> None:
    folder = make(home, "20260101-000000-one-aaaa", finished(), {})
    make(home, "20260101-000000-two-bbbb", finished(), {})
    make(home, "20260101-000000-two-bbbb-copy", finished(), {})
    assert registry.find("20260101-000000-o").path == folder
    assert registry.find("20260101-000000-two-bbbb").id == "20260101-000000-two-bbbb"
    assert registry.find(str(folder)).path == folder
    assert registry.find(folder).id == folder.name
    with pytest.raises(UsageError, match="is the beginning of 3 runs"):
        registry.find("2026")
    with pytest.raises(UsageError, match="did you mean 20260101-000000-one-aaaa"):
        registry.find("20260101-000001-one-aaaa")
    with pytest.raises(UsageError, match="is not a run folder"):
        registry.find(str(home))
    for nothing in ("", ".", "..", "nosuch"):
        with pytest.raises(UsageError):
            registry.find(nothing)


def test_what_cannot_be_opened_is_not_found_for_reading(home: Path, tmp_path: Path) -> None:
    make(home, "bad-\udcff", finished(), {})
    (tmp_path / "runs").mkdir(exist_ok=True)
    make(tmp_path, "elsewhere", finished(), {})
    (home / "runs" / "link").symlink_to(tmp_path / "runs" / "elsewhere")
    for name in ("bad-\udcff", "./bad-\\xff"):
        with pytest.raises(UsageError, match=r"cannot be opened: .* rename it to open it"):
            registry.find(name)
    with pytest.raises(UsageError, match="cannot be opened: it is a link"):
        registry.find("link")
    for beginning in (".", "./", "./b"):
        with pytest.raises(UsageError, match="is not a run folder"):
            registry.find(beginning)


def test_remove_leaves_what_is_no_run_alone(home: Path, tmp_path: Path) -> None:
    other = tmp_path / "photos"
    other.mkdir()
    (other / "status.json").write_text(json.dumps(finished()))
    copied = registry.find(other)
    for look in (
        copied,
        dataclasses.replace(copied, path=home),
        dataclasses.replace(copied, path=home / "runs"),
    ):
        with pytest.raises(UsageError, match="is left alone"):
            registry.remove(look)
        with pytest.raises(UsageError, match="is left alone"):
            registry.request_stop(look)
    assert (other / "status.json").exists()


def test_removing_a_link_keeps_what_it_points_to(home: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "status.json").write_text(json.dumps(finished()))
    (home / "runs" / "link").symlink_to(other)
    registry.remove(registry.listed("link"))
    assert not (home / "runs" / "link").is_symlink()
    assert (other / "status.json").exists()


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "../runs",
        "one/",
        "./one",
        "on",
        "/",
        "~",
        "link",
        ".new-x",
        "one\0",
        "x" * 9999,
        "\udcff",
    ],
)
def test_a_page_names_a_run_by_its_whole_id_only(home: Path, tmp_path: Path, name: str) -> None:
    make(home, "one", finished(), {})
    make(home, ".new-x", finished(), {})
    (home / "status.json").write_text(json.dumps(finished()))
    (home / "runs" / "status.json").write_text(json.dumps(finished()))
    (home / "runs" / "link").symlink_to(home / "runs" / "one")
    (home / "runs" / os.fsdecode(b"\xff")).mkdir()
    assert registry.named("one").id == "one"
    with pytest.raises(UsageError):
        registry.named(name)


def test_the_working_folder_is_not_removed_by_name(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "out.log").write_text("a service of the user's writes here")
    monkeypatch.chdir(work)
    for name in (".", "..", str(work), "../work", "./"):
        with pytest.raises(UsageError):
            registry.listed(name)
    assert (work / "out.log").exists()
    # It may be read on the command line.
    assert registry.find(".").path == work


def test_a_folder_elsewhere_is_known_by_its_place_not_by_its_words(home: Path) -> None:
    make(home, "one", finished(), {})
    assert registry.listed(str(home / "runs" / "one")).id == "one"
    assert registry.listed(str(home / "runs" / ".." / "runs" / "one")).id == "one"
    assert registry.holds(home / "runs" / "one")
    assert not registry.holds(home / "runs")
    assert not registry.holds(home)


def test_names_that_cannot_be_shown_are_listed_and_removed(home: Path) -> None:
    names = [b"\xff", b"a\x1b[31m", "a\u202eb".encode(), b"two\nlines"]
    for name in names:
        (home / "runs" / os.fsdecode(name)).mkdir()
    found = registry.runs()
    assert {run.id for run in found} == {"./\\xff", "./a\\x1b[31m", "./a\\u202eb", "./two\\nlines"}
    assert all(run.problem and "cannot be shown" in run.problem for run in found)
    for run in found:
        assert registry.listed(run.id).path == run.path
        registry.remove(run)
    assert registry.runs() == []


def test_a_link_is_not_stopped_through(home: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "status.json").write_text(json.dumps(watched_by(2**22 + 1, 1)))
    (home / "runs" / "link").symlink_to(other)
    with pytest.raises(UsageError, match="is a link"):
        registry.request_stop(registry.listed("link"))
    assert sorted(entry.name for entry in other.iterdir()) == ["status.json"]


def test_removing_twice_says_so(home: Path) -> None:
    make(home, "one", finished(), {})
    run = registry.find("one")
    registry.remove(run)
    with pytest.raises(UsageError, match="there is no run 'one' any more"):
        registry.remove(run)


def test_nothing_but_a_supervisor_of_that_folder_is_signalled(home: Path) -> None:
    # This test's own process is alive under that pid and start, and it is no supervisor.
    make(home, "forged", watched_by(*me()), {})
    with pytest.raises(HopscopeError, match="copy"):
        registry.stop(registry.find("forged"))


def test_stopping_a_lost_run_writes_the_loss_down(home: Path) -> None:
    folder = make(home, "gone", watched_by(2**22 + 1, 1), {})
    run = registry.stop(registry.find("gone"))
    assert run.state == "lost"
    assert json.loads((folder / "status.json").read_text())["state"] == "lost"
