"""Sums that an object keeps, or that each round adds several values to: added up on the device."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.fixes.fix_cases import fixed, hop

HEADS = {"tensorflow": "import tensorflow as tf\n", "mxnet": "import mxnet as mx\nfrom mxnet import nd\n"}


def sync_fixed(framework: str, text: str, **fields: Any) -> str | None:
    """The text that the fix makes, without its imports."""
    head = HEADS[framework]
    kind = "float" if framework == "tensorflow" else "asscalar"
    changed = fixed("host-sync", head + text, framework=framework, taken_by=kind, **fields)
    return changed.removeprefix(head) if changed is not None else None


METER = """\
class Meter:
    def __init__(self):
        self.sum, self.n = 0.0, 0

    def add(self, v):
        self.sum += float(v)  #!
        self.n += 1

    def mean(self):
        return self.sum / self.n

meter = Meter()
for x in data:
    meter.add(step(x))
print(meter.mean(), meter.sum, x.sum())
"""


def test_a_sum_that_an_object_keeps_is_added_up_on_the_device() -> None:
    pulls = (hop("host-sync", each=1.0),)
    done = METER.replace("float(v)  #!", "v").replace("return self.sum", "return float(self.sum)")
    done = done.replace("meter.sum", "float(meter.sum)")
    assert sync_fixed("tensorflow", METER, hops=pulls) == done
    of_mxnet = "from mxnet import np\n" + METER.replace("float(v)", "v.item()")
    made = "from mxnet import np\n" + done.replace("self.sum += v", "self.sum = self.sum + v.detach()")
    assert fixed("host-sync", of_mxnet, framework="mxnet", hops=pulls, taken_by="item") == made
    assert sync_fixed("mxnet", METER.replace("float(v)", "v.asscalar()"), hops=pulls) is None
    away = (hop("host-sync", "gpu:1", each=1.0),)
    scoped = done.replace("self.sum += v", 'with tf.device("/GPU:1"):\n            self.sum += v')
    assert sync_fixed("tensorflow", METER, hops=away) == scoped


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    meter.add(step(x))\n", "    meter.add(step(x))\n    log(meter.mean())\n"),
        ("    meter.add(step(x))\n", "    meter.add(step(x))\n    log(meter.sum)\n"),
        ("print(meter.mean()", "if meter.sum > 3: stop()\nprint(meter.mean()"),
        ("        self.n += 1\n", "        self.n += 1\n        return self.sum\n"),
        ("self.sum, self.n = 0.0, 0", "self.sum, self.n = start(), 0"),
        ("x.sum()", "getattr(meter, 'sum')"),
        ("x.sum()", "x.sum"),
    ],
)
def test_a_sum_that_is_read_with_each_addition_stays_as_it_is(old: str, new: str) -> None:
    assert old in METER
    assert sync_fixed("tensorflow", METER.replace(old, new), hops=(hop("host-sync", each=1.0),)) is None


def test_a_sum_that_another_file_reads_stays_as_it_is() -> None:
    pulls = (hop("host-sync", each=1.0),)
    assert sync_fixed("tensorflow", METER, hops=pulls, files={"b.py": "print(m.sum)\n"}) is None
    assert sync_fixed("tensorflow", METER, hops=pulls, files={"b.py": "print(m.sum())\n"}) is not None


ROUNDED = (
    "def f():\n    out = []\n    for x in data:\n        out.append(round(float(x), 4))  #!\n    return out\n"
)


def test_a_value_that_is_rounded_before_it_is_kept_is_rounded_after_the_loop() -> None:
    assert sync_fixed("tensorflow", ROUNDED) == (
        "def f():\n    out = []\n    for x in data:\n        out.append(x)\n"
        "    out = [round(value, 4) for value in tf.stack(out).numpy().tolist()]\n    return out\n"
    )
    assert sync_fixed("tensorflow", ROUNDED.replace("4)", "digits)")) is None


SUMMED = """\
losses = []
for x, y in data:
    losses = [f(a) for a in x]
    total += sum(l.mean().asscalar() for l in losses)  #!
print(total)
"""


def test_a_sum_of_several_contexts_values_is_added_up_on_one_of_them() -> None:
    text = f"total = 0.0\n{SUMMED}"
    both = (hop("host-sync", "gpu:0", each=1.0), hop("host-sync", "gpu:1", each=1.0))
    taken = "total = total.asscalar() if isinstance(total, nd.NDArray) else total"
    plain = text.replace("mean().asscalar()", "mean()").replace("  #!", "")
    made = plain.replace("print", f"{taken}\nprint")
    brought = made.replace("mean()", "mean().as_in_context(losses[0].context)")
    assert sync_fixed("mxnet", text, hops=both) == brought
    assert sync_fixed("mxnet", text, hops=both[:1]) == made
    assert sync_fixed("mxnet", text.replace("[f(a) for a in x]", "some(x)"), hops=both) is None
    assert sync_fixed("mxnet", text.replace("for l in losses", "for l in losses if a"), hops=both) is None
    each = text.replace("  #!\n", "  #!\n    if total > 9: break\n")
    assert sync_fixed("mxnet", each, hops=both) is None


def test_a_sum_of_arrays_that_know_no_float_is_taken_by_their_own_method() -> None:
    """Bug: `float(total)` raised TypeError, for an NDArray, unlike mx.np's arrays, has none."""
    told = "    if i % 9 == 0:\n        p(total)\n"
    text = f"total = 0.0\nfor i, x in data:\n    total += f(x).asscalar()  #!\n{told}"
    pulls = (hop("host-sync", each=1.0),)
    assert sync_fixed("mxnet", text, hops=pulls) == (
        text.replace("f(x).asscalar()  #!", "f(x)").replace("p(total)", "p(total.asscalar())")
        + "total = total.asscalar() if isinstance(total, nd.NDArray) else total\n"
    )
    before = f"total = 0.0\nfor i, x in data:\n{told}    total += f(x).asscalar()  #!\n"
    assert sync_fixed("mxnet", before, hops=pulls) is None
    once = "total = sum(x.asscalar() for x in xs)  #!\n"
    assert sync_fixed("mxnet", once, hops=(hop("host-sync"),)) == "total = sum(xs).asscalar()\n"
