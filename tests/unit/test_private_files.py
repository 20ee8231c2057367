"""What is kept under home is its owner's alone, whatever the umask and whatever was there before."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from probes import private_files
from runners.errors import HopscopeError
from runners.private_files import read_private
from runners.runs import registry


@pytest.fixture(params=[0o000, 0o022, 0o777])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    """Permissions of all that is in a folder, and its own as ''."""
    found = {"": folder.lstat().st_mode}
    found |= {str(path.relative_to(folder)): path.lstat().st_mode for path in folder.rglob("*")}
    return {name: stat.S_IMODE(mode) for name, mode in found.items()}


def test_folders_and_files_are_made_private(tmp_path: Path, umask: int) -> None:
    home = tmp_path / "home"
    private_files.make_folder(str(home / "runs" / "one"))
    private_files.make_folder(str(home / "runs" / "one"))
    private_files.write_file(str(home / "new"), b"x")
    private_files.replace_file(str(home / "replaced"), b"x")
    os.close(private_files.open_file(str(home / "lock"), os.O_RDWR | os.O_CREAT))
    found = modes(home)
    assert {mode for name, mode in found.items() if (home / name).is_dir()} == {0o700}
    assert {mode for name, mode in found.items() if (home / name).is_file()} == {0o600}
    assert not [name for name in found if name.startswith(".")]


def test_a_file_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    lock.touch()
    lock.chmod(0o666)
    os.close(private_files.open_file(str(lock), os.O_RDWR | os.O_CREAT))
    assert stat.S_IMODE(lock.stat().st_mode) == 0o600


def test_what_is_no_file_is_neither_opened_nor_emptied(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("data")
    (tmp_path / "link").symlink_to(precious)
    (tmp_path / "dangling").symlink_to(tmp_path / "made")
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    for name in ("link", "dangling", "fifo", "folder"):
        for flags in (os.O_WRONLY | os.O_CREAT | os.O_TRUNC, os.O_RDWR | os.O_CREAT, os.O_WRONLY):
            with pytest.raises(OSError):
                private_files.open_file(str(tmp_path / name), flags)
    assert precious.read_text() == "data"
    assert not (tmp_path / "made").exists()


def test_what_was_open_to_others_is_closed_with_a_word_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    (home / "runs").mkdir(parents=True)
    home.chmod(0o755)
    (home / "runs").chmod(0o777)
    monkeypatch.setenv("HOPSCOPE_HOME", str(home))
    assert [line.split(";")[0] for line in registry.close_to_others()] == [
        f"other users could look into {home}",
        f"other users could look into {home / 'runs'}",
    ]
    assert set(modes(home).values()) == {0o700}
    assert registry.close_to_others() == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives folders away")
@pytest.mark.parametrize("of_another", ["home", "home/runs"])
def test_a_folder_of_another_user_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, of_another: str
) -> None:
    (tmp_path / "home" / "runs").mkdir(parents=True)
    os.chown(tmp_path / of_another, 65534, 65534)
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    with pytest.raises(HopscopeError, match=r"belongs to another user \(uid 65534\)"):
        registry.close_to_others()


def test_a_folder_that_is_shared_by_its_nature_stays_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = tmp_path / "tmp"
    shared.mkdir()
    shared.chmod(0o1777)
    users = tmp_path / "user"
    users.mkdir(mode=0o755)
    monkeypatch.setenv("HOME", str(users))
    assert not private_files.narrow(str(shared))
    assert not private_files.narrow(str(users))
    assert not private_files.narrow("/")


@pytest.mark.parametrize("mask", ["0", "0777"])
def test_a_run_and_all_beside_it_are_private(tmp_path: Path, mask: str) -> None:
    """A real run, with its supervisor and sampler."""
    home = tmp_path / "home"
    script = tmp_path / "hello.py"
    script.write_text("print('hello')\n")
    words = f'umask {mask}; exec "$0" -m app run --python "$0" -- {script}'
    done = subprocess.run(
        ["/bin/sh", "-c", words, sys.executable],
        cwd=Path(__file__).resolve().parents[2],
        env={**os.environ, "HOPSCOPE_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = modes(home)
    assert {name for name in found if name.endswith(("out.log", "spec.json", "status.json"))}
    wide = {name: oct(mode) for name, mode in found.items() if mode & 0o077 and "/trace/" not in name}
    assert wide == {}
    # Its owner can still read all of it.
    assert all(mode & 0o400 for name, mode in found.items() if "/trace/" not in name)


def test_what_is_no_private_file_leaves_nothing_open(tmp_path: Path) -> None:
    """A folder in place of the tokens took a descriptor of the server at each look."""
    (tmp_path / "open").write_text("x")
    (tmp_path / "open").chmod(0o644)
    os.mkfifo(tmp_path / "fifo", 0o600)
    before = len(list(Path("/proc/self/fd").iterdir()))
    for path in (tmp_path, tmp_path / "open", tmp_path / "fifo", tmp_path / "missing"):
        assert read_private(path) is None
    assert len(list(Path("/proc/self/fd").iterdir())) == before
