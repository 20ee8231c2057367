"""The tokens that a home's servers keep from one start to the next."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app import tokens


def by_role(found: dict[str, tokens.Role]) -> dict[str, str]:
    return {role: token for token, role in found.items()}


@pytest.fixture
def file(hopscope_home: Path) -> Path:
    return hopscope_home / "tokens.json"


def test_they_are_the_same_after_a_restart(file: Path) -> None:
    first, why = tokens.kept_tokens()
    assert why is None and sorted(first.values()) == ["operator", "viewer"]
    assert tokens.kept_tokens() == (first, None) and tokens.known_tokens() == first
    assert file.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in file.parent.iterdir()] == ["tokens.json"]


def test_those_of_an_earlier_version_go_on(file: Path) -> None:
    """It kept a pair for each port."""
    pair = {"operator": "o" * 32, "viewer": "v" * 32}
    file.write_text(json.dumps({"8501": pair, "8601": {"operator": "p" * 32, "viewer": "w" * 32}}))
    file.chmod(0o600)
    assert tokens.kept_tokens() == ({"o" * 32: "operator", "v" * 32: "viewer"}, None)


def test_servers_that_start_at_once_get_the_same(file: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _number: tokens.kept_tokens(), range(64)))
    assert all(one == (tokens.known_tokens(), None) for one in found)


def test_a_pipe_in_its_place_is_replaced(file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(file, 0o600)
    found, why = tokens.kept_tokens()
    assert why is None and tokens.known_tokens() == found


def test_new_ones_on_demand_end_the_old_ones(file: Path) -> None:
    first, _ = tokens.kept_tokens()
    second, _ = tokens.kept_tokens(renew=True)
    assert not set(first) & set(second)
    assert tokens.kept_tokens() == (second, None)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_what_others_could_read_is_not_believed(file: Path, mode: int) -> None:
    first, _ = tokens.kept_tokens()
    file.chmod(mode)
    second, why = tokens.kept_tokens()
    assert why is None and not set(first) & set(second)
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_link_is_not_followed(file: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.json"
    planted = {"operator": "o" * 40, "viewer": "v" * 40}
    elsewhere.write_text(json.dumps(planted))
    elsewhere.chmod(0o600)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.symlink_to(elsewhere)
    found, why = tokens.kept_tokens()
    assert why is None and "o" * 40 not in found
    assert json.loads(elsewhere.read_text()) == planted and not file.is_symlink()


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "null",
        '{"8501": 5}',
        '{"operator": "short", "viewer": "short"}',
        "[" * 60_000,
        '{"operator": ' + "1" * 5000 + "}",
        json.dumps({"operator": "a" * 40}),
        json.dumps({"operator": "a" * 40, "viewer": "a" * 40}),
        json.dumps({"operator": "ä" * 40, "viewer": "b" * 40}),
        json.dumps({"operator": "a" * 40, "viewer": "b" * 39 + ";"}),
    ],
)
def test_damaged_ones_are_replaced(file: Path, content: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content)
    file.chmod(0o600)
    found, why = tokens.kept_tokens()
    assert why is None and {len(token) for token in found} == {32}
    assert json.loads(file.read_text()) == by_role(found)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_where_nothing_can_be_kept_that_is_said(file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.parent.chmod(0o500)
    found, why = tokens.kept_tokens()
    assert len(found) == 2 and why is not None and "cannot be written" in why


def test_where_the_place_is_a_file_that_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "taken"))
    found, why = tokens.kept_tokens()
    assert len(found) == 2 and why is not None and "new at the next start" in why
