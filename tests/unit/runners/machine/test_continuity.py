"""What a replaced sampler would have forgotten."""

from __future__ import annotations

from typing import Any

from runners.machine.continuity import Continuity
from tests.unit.machine_snapshots import LOST, gpu, machine

XID = {"code": 48, "t": 5.0, "text": "double-bit ECC error"}
LATER = {"code": 79, "t": 9.0, "text": "GPU has fallen off the bus"}


def whole(*gpus: dict[str, Any]) -> dict[str, Any]:
    return {**machine(*gpus), "full": True}


def nothing_of(index: int) -> dict[str, Any]:
    """A card that was lost before the sampler began: not even its name can be read."""
    return dict.fromkeys(gpu(index), LOST) | {"index": index, "unreadable": LOST}


def test_a_lost_card_stays_known_to_the_next_sampler() -> None:
    known = Continuity()
    before = known.complete(None, whole(gpu(0), gpu(1)))
    after = known.complete(before, whole(gpu(0), nothing_of(1)))
    row = after["gpus"][1]
    assert (row["uuid"], row["name"], row["serial"]) == (gpu(1)["uuid"], gpu(1)["name"], gpu(1)["serial"])
    assert row["power_watts"] == row["unreadable"] == LOST
    # What it tells later of that card changes nothing of its identity.
    change = {"seq": 9, "t": 1.0, "full": False, "gpus": [{"index": 1, "xid": [LATER]}]}
    assert known.complete(after, change) == change


def test_a_card_that_moved_to_another_number_is_not_in_two_rows() -> None:
    known = Continuity()
    before = known.complete(None, whole(gpu(0), gpu(1)))
    moved = {**gpu(0), "uuid": gpu(1)["uuid"]}
    after = known.complete(before, whole(moved, nothing_of(1)))
    assert after["gpus"][1]["uuid"] == LOST


def test_xid_errors_of_an_earlier_sampler_are_kept_once() -> None:
    known = Continuity()
    before = known.complete(None, whole(gpu(0, xid=[XID]), gpu(1)))
    after = known.complete(before, whole(gpu(0), gpu(1)))
    assert [row["xid"] for row in after["gpus"]] == [[XID], []]
    change = {"seq": 9, "t": 1.0, "full": False, "gpus": [{"index": 0, "xid": [LATER]}]}
    assert known.complete(after, change)["gpus"][0]["xid"] == [XID, LATER]
    # A whole message of the same sampler, with what was told already.
    again = known.complete(after, whole(gpu(0, xid=[XID])))
    assert again["gpus"][0]["xid"] == [XID]
