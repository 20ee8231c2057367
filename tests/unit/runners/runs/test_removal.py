"""Deleting a run hits nothing outside of it, whatever is in it and whoever changes it meanwhile."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from runners.runs import removal


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    (folder / "inner").mkdir(parents=True)
    (folder / "precious").write_text("data")
    (folder / "inner" / "precious").write_text("data")
    return folder


@pytest.fixture
def registry(tmp_path: Path) -> Path:
    folder = tmp_path / "runs"
    folder.mkdir()
    return folder


def whole(outside: Path) -> bool:
    return (outside / "precious").exists() and (outside / "inner" / "precious").exists()


def test_links_in_it_are_removed_not_followed(registry: Path, outside: Path) -> None:
    run = registry / "one"
    (run / "trace").mkdir(parents=True)
    (run / "trace" / "folder").symlink_to(outside)
    (run / "file").symlink_to(outside / "precious")
    (run / "up").symlink_to("../..")
    os.link(outside / "precious", run / "hard")
    removal.remove(registry, "one")
    assert whole(outside)
    assert list(registry.iterdir()) == []


def test_a_link_in_its_place_is_removed_alone(registry: Path, outside: Path) -> None:
    (registry / "one").symlink_to(outside)
    removal.remove(registry, "one")
    assert whole(outside)
    assert list(registry.iterdir()) == []


def test_what_replaces_it_meanwhile_stays(
    registry: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (registry / "one").mkdir()
    rename = os.rename

    def swapped(source: str, target: str, **where: int) -> None:
        """Somebody swaps the folder for another between the look and the renaming."""
        monkeypatch.setattr(os, "rename", rename)
        rename(registry / "one", registry / "kept")
        rename(outside, registry / "one")
        rename(source, target, **where)

    monkeypatch.setattr(os, "rename", swapped)
    with pytest.raises(OSError, match="something else has its name"):
        removal.remove(registry, "one")
    assert whole(registry / "one")


def test_a_link_swapped_in_while_it_is_emptied_is_not_followed(
    registry: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = registry / "one"
    (run / "trace").mkdir(parents=True)
    opened = os.open

    def swapped(path: str, flags: int, *rest: int, dir_fd: int | None = None) -> int:
        """Each inner folder becomes a link to elsewhere just before it is opened."""
        if dir_fd is not None and not path.startswith(removal.PREFIX):
            os.rmdir(path, dir_fd=dir_fd)
            os.symlink(outside, path, dir_fd=dir_fd)
        return opened(path, flags, *rest, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", swapped)
    with pytest.raises(OSError):
        removal.remove(registry, "one")
    assert whole(outside)


def test_a_deep_folder_goes(registry: Path) -> None:
    here = Path.cwd()
    (registry / "one").mkdir()
    try:
        os.chdir(registry / "one")
        for _ in range(3000):
            Path("deep").mkdir()
            os.chdir("deep")
    finally:
        os.chdir(here)
    removal.remove(registry, "one")
    assert list(registry.iterdir()) == []


def test_what_an_earlier_removal_left_goes_too(registry: Path) -> None:
    (registry / f"{removal.PREFIX}x" / "trace").mkdir(parents=True)
    (registry / "one").mkdir()
    removal.remove(registry, "one")
    assert list(registry.iterdir()) == []


@pytest.fixture
def mounted(registry: Path, outside: Path) -> Iterator[Path]:
    """A run with another folder mounted into it, where this user may mount."""
    place = registry / "one" / "trace" / "data set"
    place.mkdir(parents=True)
    (registry / "one" / "spec.json").write_text("{}")
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(os.fsencode(outside), os.fsencode(place), None, 4096, None):
        pytest.skip(f"this user may not mount: {os.strerror(ctypes.get_errno())}")
    held = os.open(place, os.O_PATH)
    yield place
    # Wherever it was moved to.
    where = Path(f"/proc/self/fd/{held}").readlink()
    os.close(held)
    assert not libc.umount2(os.fsencode(where), 2)


def test_a_mounted_folder_in_it_is_not_emptied(registry: Path, outside: Path, mounted: Path) -> None:
    with pytest.raises(OSError, match="mounted"):
        removal.remove(registry, "one")
    assert whole(outside)
    assert (registry / "one" / "spec.json").exists()


def test_nor_where_the_mounts_are_not_known(
    registry: Path, outside: Path, mounted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(removal, "MOUNTS", registry / "nothing")
    with pytest.raises(OSError):
        removal.remove(registry, "one")
    assert whole(outside)
