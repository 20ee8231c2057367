"""Whether a finding gets a fix."""

from __future__ import annotations

import pytest

from tests.unit.fixes.fix_cases import fixed, hop, mx_fixed

TF = "import tensorflow as tf\n"


@pytest.mark.parametrize("code", ["unbalanced", "host-memory", "explicit", "collective", "unknown"])
def test_codes_without_a_fix(code: str) -> None:
    assert fixed(code, f"{TF}for x in data:\n    y = x + 1  #!\n", hops=(hop(code),)) is None


def test_no_fix_has_the_host_do_a_gpus_work() -> None:
    """What it saves in transfers it loses many times over; without GPUs the host is a device like others."""
    text = f"{TF}def f(x):\n    return x + 1  #!\n"
    moved = hop("default-device", "cpu:0", "gpu:0")
    assert fixed("default-device", text, hops=(moved,)) is None
    stood_in = hop("default-device", "cpu:0", "cpu:1")
    assert fixed("default-device", text, hops=(stood_in,), devices=("cpu:0", "cpu:1")) is not None
    made = hop("default-device", "gpu:0", "cpu:0", blames="producer")
    assert mx_fixed("default-device", "z = x + mx.nd.ones(3)  #!\n", hops=(made,)) is None
