"""What stands in a run page's address comes back as it was."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

from app.web.shared.address import RunAddress

FULL = RunAddress(
    run="20260101-120000-train-0abc",
    pair=("worker:1/gpu:0", "cpu:0"),
    hop=12,
    graphs=("4", "eager"),
    opened=("4|dense/kernel", "4|a b&c"),
    window=(0.25, 1.5),
)


def read(link: str) -> RunAddress:
    return RunAddress.read(parse_qs(urlsplit(link).query))


@pytest.mark.parametrize(
    "address",
    [
        RunAddress(),
        FULL,
        FULL.with_filter(group="4|cpu:1|dense/kernel"),
        FULL.with_filter(crossing="4|cpu:1|a>4|cpu:2|b"),
        FULL.with_filter(finding="bounce:3"),
        FULL.with_filter(line="lib/a b.py:31"),
        RunAddress(run="x", file="lib/a&b.py"),
        RunAddress(run="x", window=(1.25e-05, 3e-05)),
    ],
)
def test_a_link_shows_the_same(address: RunAddress) -> None:
    assert read(address.link()) == address
    assert set(address.query()) <= set(RunAddress.names())


def test_a_link_keeps_the_tab() -> None:
    assert FULL.link("Timeline").endswith("&tab=Timeline") and read(FULL.link("Timeline")) == FULL


def test_only_what_is_chosen_is_in_it() -> None:
    assert RunAddress(run="x").link() == "/run?run=x"
    assert not RunAddress(run="x").filtered
    assert FULL.filtered


@pytest.mark.parametrize(
    "query",
    [
        {"pair": ["cpu:1"]},
        {"pair": [">"]},
        {"hop": ["-1"]},
        {"hop": ["\u0663"]},
        {"hop": ["99999999999999999999"]},
        {"t": ["2-1"]},
        {"t": ["a-b"]},
        {"t": ["-1-2"]},
        {"t": ["1-inf"]},
        {"t": ["nan-2"]},
        {"tab": ["Log"]},
        {"run": []},
    ],
)
def test_what_is_not_understood_is_left_out(query: dict[str, list[str]]) -> None:
    assert RunAddress.read(query) == RunAddress()


def test_one_filter_at_a_time() -> None:
    picked = FULL.with_filter(group="4|cpu:1|a")
    assert (picked.pair, picked.group, picked.hop) == (None, "4|cpu:1|a", None)
    assert picked.window == FULL.window
    assert not picked.with_filter().filtered


def test_closing_a_scope_closes_what_is_in_it() -> None:
    address = RunAddress().with_opened("4|a", True).with_opened("4|a/b", True).with_opened("4|ab", True)
    assert address.opened == ("4|a", "4|a/b", "4|ab")
    assert address.with_opened("4|a", False).opened == ("4|ab",)
    assert address.with_opened("4|a", True).opened == ("4|a/b", "4|ab", "4|a")
