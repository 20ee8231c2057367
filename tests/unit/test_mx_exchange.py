"""What MXNet's kvstores copy, by their algorithm; the exact-line tests hold it against what they do."""

from __future__ import annotations

import pytest

from probes.mx.exchange import Move, Store, spread

ONE, TWO, HOST = "cpu:1", "cpu:2", "cpu:0"


def exchanged(store: Store, devices: list[str], updater: tuple[str, str] | None = None) -> list[Move]:
    """The moves of one push and one pull of key 0, of 8 bytes, into other arrays."""
    store.sizes.setdefault(0, 2)
    if updater:
        store.seen[0] = updater
    home = store.take(0, devices, address=1)
    return store.sent(0, devices, home, 8) + store.pulled(0, devices, list(range(11, 11 + len(devices))), 8)


def test_local_sums_on_the_host_and_copies_to_each() -> None:
    assert exchanged(Store("local"), [ONE, TWO]) == [
        (ONE, HOST, 8),
        (TWO, HOST, 8),
        (HOST, ONE, 8),
        (HOST, TWO, 8),
    ]


def test_device_sums_on_a_device_and_copies_to_itself_too() -> None:
    assert exchanged(Store("device"), [ONE, TWO]) == [
        (ONE, ONE, 8),
        (TWO, ONE, 8),
        (ONE, ONE, 8),
        (ONE, TWO, 8),
    ]


def test_where_the_updater_ran_tells_where_it_was_summed_and_stored() -> None:
    moves = exchanged(Store("device"), [ONE, TWO], updater=(TWO, HOST))
    assert moves == [(ONE, TWO, 8), (TWO, TWO, 8), (HOST, TWO, 8), (TWO, ONE, 8), (TWO, TWO, 8)]


@pytest.mark.parametrize("kind", ["local", "device"])
def test_one_context_alone_hands_in_nothing_and_gets_it_from_there(kind: str) -> None:
    assert exchanged(Store(kind), [ONE]) == [(ONE, ONE, 8)]


def test_an_array_that_was_pushed_alone_is_not_copied_to_itself() -> None:
    store = Store("local")
    store.take(0, [ONE], address=7)
    assert store.pulled(0, [ONE, TWO], [7, 8], 8) == [(ONE, TWO, 8)]


def test_before_the_first_push_device_hands_out_over_one_context_by_the_keys_number() -> None:
    store = Store("device", sizes={0: 2, 1: 2})
    assert store.pulled(0, [ONE, TWO], [11, 12], 8) == [(HOST, ONE, 8), (ONE, TWO, 8)]
    assert store.pulled(1, [ONE, TWO], [11, 12], 8) == [(HOST, TWO, 8), (TWO, ONE, 8)]


def test_a_worker_sends_its_sum_from_the_host_and_receives_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DMLC_NUM_SERVER", raising=False)
    server = "server:0/cpu:0"
    assert exchanged(Store("dist_sync", rank=1), [ONE, TWO]) == [
        *((ONE, HOST, 8), (TWO, HOST, 8), (HOST, server, 8)),
        *((server, HOST, 8), (HOST, ONE, 8), (HOST, TWO, 8)),
    ]
    assert exchanged(Store("dist_sync", rank=1), ["gpu:0"]) == [
        *(("gpu:0", HOST, 8), (HOST, server, 8)),
        *((server, HOST, 8), (HOST, "gpu:0", 8)),
    ]


def test_worker_0_sends_the_first_values_and_receives_into_what_it_sent() -> None:
    server = "server:0/cpu:0"
    first, other = Store("dist_sync", sizes={0: 2}), Store("dist_sync", rank=1, sizes={0: 2})
    assert first.initialized(0, ONE, 7, 8) == [(ONE, server, 8)]
    assert first.pulled(0, [ONE, TWO], [7, 8], 8) == [(server, ONE, 8), (ONE, TWO, 8)]
    assert other.initialized(0, ONE, 7, 8) == []
    assert other.pulled(0, [ONE, TWO], [7, 8], 8) == [(server, HOST, 8), (HOST, ONE, 8), (HOST, TWO, 8)]


def test_a_large_array_is_cut_over_all_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DMLC_NUM_SERVER", "2")
    store = Store("dist_sync", sizes={0: 1_000_000})
    assert store.initialized(0, HOST, 7, 4_000_000) == [
        (HOST, "server:0/cpu:0", 2_000_000),
        (HOST, "server:1/cpu:0", 2_000_000),
    ]


def test_the_largest_arrays_go_to_the_context_with_the_least() -> None:
    assert spread({"a": 10, "b": 30, "c": 20, "d": 5}, [ONE, TWO]) == {"b": ONE, "c": TWO, "a": TWO, "d": ONE}
