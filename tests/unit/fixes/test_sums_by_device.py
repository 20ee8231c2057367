"""Many values that are taken only to be added up, of one device or several."""

from __future__ import annotations

import pytest

from tests.unit.fixes.fix_cases import fixed, hop, said

MX = "import mxnet as mx\n"
NORM = """\
def norm(params):
    total = 0.0
    for p in params.values():
        for g in p.list_grad():
            total += float((g ** 2).sum().asscalar())  #!
    return total ** 0.5
"""
BOTH = (hop("host-sync", "gpu:0", shape="1", each=6.0), hop("host-sync", "gpu:1", shape="1", each=6.0))


def test_a_norm_over_several_contexts_takes_one_fetch() -> None:
    assert fixed("host-sync", MX + NORM, framework="mxnet", hops=BOTH) == MX + (
        "def norm(params):\n    total = 0.0\n    sums = {}\n    for p in params.values():\n"
        "        for g in p.list_grad():\n            value = (g ** 2).sum()\n"
        "            sums[value.context] = sums.get(value.context, 0) + value\n    if sums:\n"
        "        total += float(sum(one.as_in_context(value.context) for one in sums.values()).asscalar())\n"
        "    return total ** 0.5\n"
    )
    one = fixed("host-sync", MX + NORM, framework="mxnet", hops=BOTH[:1]) or ""
    assert "total += (g ** 2).sum()\n    total = float(total.asscalar()) if isinstance(total" in one
    text = f"from mxnet import np\n{NORM}".replace(".asscalar()", "")
    numpys = fixed("host-sync", text, framework="mxnet", hops=BOTH) or ""
    assert "sums[value.ctx] = sums.get(value.ctx, 0) + value" in numpys
    assert "total += float(sum(one.as_in_ctx(value.ctx) for one in sums.values()))\n" in numpys


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  #!\n", "  #!\n            print(total)\n"),
        ("total = 0.0", "total = start()"),
        ("total += float", "total -= float"),
        ("float((g ** 2)", "2 * float((g ** 2)"),
        ("float((g ** 2).sum().asscalar())", "int(g.sum().asscalar())"),
    ],
)
def test_not_where_the_sum_may_be_another(old: str, new: str) -> None:
    assert fixed("host-sync", MX + NORM.replace(old, new), framework="mxnet", hops=BOTH) is None


@pytest.mark.parametrize(
    "form", ["for p in ps:\n    t += g(p).item() ** 2  #!", "t = sum(f(p) ** 2 for p in ps)"]
)
def test_many_values_that_are_added_up_are_told_so(form: str) -> None:
    """Bug: "take the value every so many steps" was said of a norm's 12 values."""
    text = MX + "t = start()\n" + form.replace("f(p)", "g(p).item()").removesuffix("  #!") + "  #!\n"
    words = said("host-sync", text, framework="mxnet", hops=BOTH) or ""
    assert words == (
        "Each step takes 12 values only to add them up: add up on each of gpu:0 and gpu:1 what lies there,"
        " bring these sums to one of them, and take the whole by one fetch."
    )
    alone = said("host-sync", text, framework="mxnet", hops=BOTH[:1]) or ""
    assert alone.startswith("Each step takes 6 values only to add them up: add them up on the device and")
    single = (hop("host-sync", "gpu:0", shape="1", each=1.0),)
    assert "only to add" not in (said("host-sync", text, framework="mxnet", hops=single) or "")


def test_a_norm_that_limits_gradients_is_limited_on_the_device() -> None:
    text = (
        "import mxnet as mx\nfor x in data:\n    loss.backward()\n    norm = 0\n    for g in grads:\n"
        "        norm += nd.norm(g).asscalar() ** 2  #!\n    if norm > 9:\n        scale(grads)\n"
    )
    words = said("host-sync", text, framework="mxnet", hops=BOTH) or ""
    assert "clip_global_norm" in words and "only to add" not in words
