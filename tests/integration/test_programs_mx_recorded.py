"""The MXNet programs whose claims are about time, and the module on several contexts: recorded on stand-ins.

What a verdict about time says depends on the machine and is not asserted. Why it is so is: what ran where,
and what crossed, in the recorded stage.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from runners.programs.verdicts import FAILS, HOLDS, UNTESTABLE
from tests.integration.programs import STEPS, demo, verdicts
from tests.integration.recording import Recorded

BATCH, PIXELS, WIDTH = 64, 64, 16
PARAMETERS = 4 * (PIXELS * WIDTH + WIDTH + WIDTH * WIDTH + WIDTH + WIDTH * 10 + 10)
"""Bytes of the weights, and of their gradients."""


@pytest.fixture(autouse=True)
def home(hopscope_home: Path, mx_python: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")


def products(ran: Recorded) -> Counter[str]:
    """How many lines multiply on each device."""
    return Counter(row["assigned"] for row in ran.report["ops"] if row["type"] == "dot")


def fetched(ran: Recorded, device: str = "cpu:2") -> list[tuple[int, int]]:
    """Bytes and count of what Python took from a device, a pair a line."""
    return sorted(ran.hops("bytes", "count", src=device, dst="cpu:0", cause="host-sync"))


def test_large_and_small_products_on_host_and_device() -> None:
    ran = demo("mx-matmul-size", sizes="8,32", repeats=2)
    assert products(ran) == {"cpu:0": 1, "cpu:2": 1}
    waits = {row["device"]: row["count"] for row in ran.report["syncs"] if row["kind"] == "wait_to_read"}
    # For each product of both sizes.
    assert waits == {"cpu:0": 2 * STEPS, "cpu:2": 2 * STEPS}
    assert ran.report["hops"] == []
    [verdict] = verdicts(ran)
    assert verdict.verdict == UNTESTABLE
    assert verdict.text.startswith("cpu:2 is a stand-in, computed by the host's own processor")


def test_products_at_once_and_in_sequence() -> None:
    ran = demo("mx-two-devices", sizes="16", repeats=2)
    # On the first one in both ways, on the other one only where both work at once.
    assert products(ran) == {"cpu:1": 2, "cpu:2": 1}
    assert ran.report["hops"] == []
    [verdict] = verdicts(ran)
    assert verdict.verdict == UNTESTABLE
    assert verdict.text.startswith("cpu:1 and cpu:2 are threads of one processor")


def test_norms_fetched_each_time_and_once() -> None:
    ran = demo("mx-log-norm", size=8, repeats=2)
    assert {row["assigned"] for row in ran.report["ops"]} == {"cpu:2"}
    # Each, at one line; the last; and all together, from two logs.
    assert fetched(ran) == [(4, 1), (4, STEPS), (4 * STEPS, 1), (4 * STEPS, 1)]
    assert len(ran.report["hops"]) == len(fetched(ran))
    [verdict] = verdicts(ran)
    assert verdict.verdict in (HOLDS, FAILS, UNTESTABLE)
    assert f"etching each of {STEPS} values took " in verdict.text


def test_losses_fetched_each_time_and_once() -> None:
    ran = demo("mx-host-sync", batch=16, width=WIDTH, repeats=2)
    assert fetched(ran) == [(4, STEPS), (4, STEPS), (4 * STEPS, 1)]
    assert {row["assigned"] for row in ran.report["ops"] if "(backward)" in row["type"]} == {"cpu:2"}
    stall, lock = verdicts(ran)
    assert stall.verdict in (HOLDS, FAILS, UNTESTABLE)
    assert "step that fetches its loss took " in stall.text
    assert lock.verdict == FAILS
    assert lock.text.startswith("while asnumpy() waited, another Python thread ran at ")


def test_a_batch_is_cut_by_the_work_load_list() -> None:
    ran = demo("mx-module-data-parallel", width=WIDTH, work_load_list="3,1")
    # A training on both contexts, and one on the first alone to compare with.
    assert ran.report["steps"] == 2 * STEPS
    [(fit,)] = set(ran.hops("site", dst="cpu:2", count=STEPS))
    for device, images in {"cpu:1": 48, "cpu:2": 16}.items():
        given = ran.hops("bytes", src="cpu:0", dst=device, op="_copyto", count=STEPS, site=fit)
        assert given == sorted([(4 * images * PIXELS,), (4 * images,)], key=str)
        pushed = ran.hops("bytes", src=device, dst="cpu:0", op="kvstore push", count=STEPS)
        biases = ran.hops("bytes", src=device, dst="cpu:0", op="kvstore push", count=2 * STEPS)
        assert sum(size for (size,) in pushed) + 2 * sum(size for (size,) in biases) == PARAMETERS
    summed = [row for row in ran.report["collectives"] if row["op"] == "kvstore push"]
    assert {row["algorithm"] for row in summed} == {"kvstore local, summed on cpu:0"}
    [verdict] = verdicts(ran)
    assert verdict.verdict == HOLDS
    assert verdict.text.startswith(
        f"{BATCH} images are cut into 48, 16 for cpu:1, cpu:2; after {STEPS} steps"
    )
