"""The catalogued programs, recorded: what crosses, what is reduced, which ops a scope moves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runners.programs.verdicts import HOLDS
from tests.integration.programs import STEPS, demo, verdicts
from tests.integration.recording import Recorded

BATCH, PIXELS, WIDTH = 64, 64, 256
PARAMETERS = (PIXELS * WIDTH + WIDTH) + (WIDTH * WIDTH + WIDTH) + (WIDTH * 10 + 10)


@pytest.fixture(autouse=True)
def home(hopscope_home: Path, tf_python: Path) -> Iterator[None]:
    yield


def test_model_parallel_crosses_between_neighbours_only() -> None:
    """Activations forward, gradients back; bytes are batch x width x 4."""
    recorded = demo("tf-model-parallel", 3)
    training = [hop for hop in recorded.report["hops"] if hop["count"] == STEPS]
    between = sorted(
        (h["src"], h["dst"], h["bytes"]) for h in training if "cpu:0" not in (h["src"], h["dst"])
    )
    size = BATCH * WIDTH * 4
    assert between == [
        ("cpu:1", "cpu:2", size),
        ("cpu:2", "cpu:1", size),
        ("cpu:2", "cpu:3", size),
        ("cpu:3", "cpu:2", size),
    ]
    from_host = sorted((h["dst"], h["bytes"]) for h in training if h["src"] == "cpu:0")
    assert from_host == [("cpu:1", BATCH * PIXELS * 4), ("cpu:3", BATCH * 4)]
    assert {hop["site"].split(":")[0] for hop in recorded.report["hops"]} == {"train.py"}
    backward = [h for h in training if h["src"] > h["dst"] and h["dst"] != "cpu:0"]
    assert all(hop["forward_site"] for hop in backward)
    [verdict] = verdicts(recorded)
    assert verdict.verdict == HOLDS
    assert f"back {2 * STEPS} times, each of {size:,} bytes (estimated)" in verdict.text


def test_mirrored_reduces_every_gradient_in_every_step() -> None:
    recorded = demo("tf-mirrored", 2, loop="fit")
    ring = [c for c in recorded.report["collectives"] if c["op"].startswith("CollectiveReduce")]
    assert [(c["payload_bytes"], c["count"], c["devices"]) for c in ring] == [
        (PARAMETERS * 4, STEPS, ["cpu:1", "cpu:2"])
    ]
    assert ring[0]["wire_bytes"] == 2 * PARAMETERS * 4
    assert recorded.report["steps"] == STEPS
    placed, summed = verdicts(recorded)
    assert (placed.verdict, summed.verdict) == (HOLDS, HOLDS)
    assert f"{PARAMETERS * 4:,} bytes of gradients a replica are summed over cpu:1 and cpu:2" in summed.text


def test_reduction_to_one_device_hops_there_and_back() -> None:
    recorded = demo("tf-mirrored", 2, loop="custom", cross_device_ops="reduction-to-one-device")
    per_step = [h for h in recorded.report["hops"] if h["count"] == STEPS]
    sizes = sorted(4 * n for n in (PIXELS * WIDTH, WIDTH, WIDTH * WIDTH, WIDTH, WIDTH * 10, 10))
    gradients = [h for h in per_step if h["bytes"] in sizes and "cpu:0" not in (h["src"], h["dst"])]
    assert sorted(h["bytes"] for h in gradients if h["dst"] == "cpu:1") == sizes
    assert sorted(h["bytes"] for h in gradients if h["dst"] == "cpu:2") == sizes
    reduced = [c for c in recorded.report["collectives"] if c["payload_bytes"] == PARAMETERS * 4]
    assert [(c["algorithm"], c["count"]) for c in reduced] == [("reduction-to-one-device", STEPS)]
    assert recorded.report["steps"] == STEPS
    assert [verdict.verdict for verdict in verdicts(recorded)] == [HOLDS, HOLDS]


def ops(recorded: Recorded) -> dict[str, dict[str, Any]]:
    """Name -> row, of the training step's ops."""
    rows = [row for row in recorded.report["ops"] if row["name"]]
    return {row["name"]: row for row in rows}


def test_the_scope_moves_exactly_the_gradient_ops() -> None:
    runs = [demo("tf-pin-gradients", 2, gradients=where) for where in ("inside", "outside")]
    inside, outside = map(ops, runs)
    [verdict] = verdicts(*runs)
    assert verdict.verdict == HOLDS
    assert "; inside it ran on cpu:2 with" in verdict.text
    common = inside.keys() & outside.keys()
    moved = {name for name in common if inside[name]["assigned"] != outside[name]["assigned"]}
    assert moved
    assert all("gradient_tape" in name for name in moved), sorted(moved)
    assert {inside[name]["assigned"] for name in moved} == {"cpu:2"}
    assert {outside[name]["assigned"] for name in moved} == {"cpu:0"}
    tape = {name for name in common if name.startswith("gradient_tape/")}
    assert tape == moved
