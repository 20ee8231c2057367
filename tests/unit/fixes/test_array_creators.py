"""Arrays that are created nowhere in particular, and who else computes with them."""

from __future__ import annotations

from typing import Any

from tests.unit.fixes.fix_cases import hop, mx_fixed, op


def test_an_array_that_another_context_computes_with_stays_where_it_is_made() -> None:
    text = "mask = mx.nd.ones(3)\ny = x * mask  #!\nz = h + mask\n"
    told: dict[str, Any] = {"ops": ["elemwise_mul"], "ran_on": ["gpu:1"], "inputs_also_on": ["cpu:0"]}
    told |= {"made_on_default_at": ["train.py:3"]}
    made = "mask = mx.nd.ones(3, ctx=mx.gpu(1))"
    assert (mx_fixed("mixed-context", text, **told) or "").startswith(made)
    there = (op(5, "_copyto", "cpu:0"), op(5, "elemwise_add", "gpu:1"))
    assert (mx_fixed("mixed-context", text, ran=there, **told) or "").startswith(made)
    alone = text.replace("h + mask", "mx.nd.norm(mask)")
    assert (mx_fixed("mixed-context", alone, ran=(op(5, "norm", "cpu:0"),), **told) or "").startswith(made)
    host = (op(5, "elemwise_add", "cpu:0"),)
    assert not (mx_fixed("mixed-context", text, ran=host, **told) or "").startswith(made)
    made_by_default = hop("default-device", "cpu:0", "gpu:1", blames="producer")
    for ran, proposes in (((), True), (host, False)):
        text = "mask = mx.nd.ones(3)  #!\ny = x * mask.as_in_context(mx.gpu(1))\nz = h + mask\n"
        assert bool(mx_fixed("default-device", text, hops=(made_by_default,), ran=ran)) == proposes
