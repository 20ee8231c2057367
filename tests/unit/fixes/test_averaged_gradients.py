"""Gradients that a program averages by hand over devices: on one of them, each assigned where it belongs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.fixes.fix_cases import fixed, hop

TF = "import tensorflow as tf\n"
STEP = """\
DEVS = ["/CPU:1", "/CPU:2"]

def step(results, towers):
    avg = [sum(g) / len(g) for g in zip(*[r[1] for r in results])]  #!
    for w in towers:
        for v, g in zip(w, avg):
            v.assign_sub(0.1 * g)
    return results[0][0]
"""
HOPS = tuple(hop("default-device", src, "cpu:0", op="AddV2", bytes=1 << 16) for src in ("cpu:1", "cpu:2"))


def averaged(text: str, **more: Any) -> str | None:
    known: dict[str, Any] = {"hops": HOPS, "devices": ("cpu:0", "cpu:1", "cpu:2")} | more
    found = fixed("default-device", TF + text, **known)
    return found and found.removeprefix(TF)


def test_the_average_goes_to_one_of_the_devices_and_each_assignment_to_its_own() -> None:
    """Bug: of the costliest line only prose was told. The average alone in a scope came back by the host."""
    changed = STEP.replace("  #!", "").replace("    avg =", "    with tf.device(DEVS[0]):\n        avg =")
    inner = "            with tf.device(v.device):\n                v.assign_sub(0.1 * g)\n"
    assert averaged(STEP) == changed.replace("            v.assign_sub(0.1 * g)\n", inner)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return results[0][0]", "return avg"),
        ("v.assign_sub(0.1 * g)", "v.assign_sub(0.1 * g); log(g)"),
        ("sum(g) / len(g)", "mean(g)"),
        ("    for w in towers:\n        for v, g in zip(w, avg):\n            v.assign_sub(0.1 * g)\n", ""),
    ],
)
def test_not_where_more_is_done_with_it(old: str, new: str) -> None:
    assert old in STEP
    assert averaged(STEP.replace(old, new)) is None


def test_not_on_the_default_device_nor_for_what_is_used_elsewhere() -> None:
    assert averaged(STEP, hops=(*HOPS, hop("default-device", "cpu:0", "cpu:0"))) is None
    made = tuple(hop("default-device", "cpu:0", dst, blames="producer") for dst in ("cpu:1", "cpu:2"))
    assert averaged(STEP, hops=made) is None
