"""Averages that Python carries on from step to step: on the device, by parts of the same kind."""

from __future__ import annotations

import pytest

from tests.unit.fixes.fix_cases import fixed, hop, said

MX = "import mxnet as mx\n"
AVERAGE = """\
class Average:
    def __init__(self, params, decay):
        self.params, self.decay, self.shadow = params, decay, {}

    def update(self):
        for name, p in self.params.items():
            now = p.data().asnumpy()  #!
            self.shadow[name] = self.decay * self.shadow.get(name, now) + (1 - self.decay) * now

    def apply(self):
        for name, p in self.params.items():
            p.set_data(mx.nd.array(self.shadow[name], ctx=mx.gpu(0)))
"""
PULLS = (hop("host-sync", shape="96x12", each=6.0),)


def of_mxnet(text: str) -> str | None:
    found = fixed("host-sync", MX + text, framework="mxnet", hops=PULLS, taken_by="asnumpy")
    return found and found.removeprefix(MX)


def words(text: str, framework: str = "mxnet", kind: str = "asnumpy") -> str:
    return said("host-sync", text, framework=framework, hops=PULLS, taken_by=kind) or ""


def test_an_average_of_parameters_is_kept_beside_them() -> None:
    """Bug: "once at the end, if it is only looked at" was said of what each step goes on with."""
    plain = AVERAGE.replace(".asnumpy()  #!", "")
    assert of_mxnet(AVERAGE) == plain
    saved = "\n    def save(self, name):\n        np.save(name, self.shadow[name])\n"
    taken = saved.replace("shadow[name]", "shadow[name].asnumpy()")
    assert of_mxnet(AVERAGE + saved) == plain + taken
    of_name = (
        "avg = {}\nfor x in data:\n    for k, p in params.items():\n"
        "        avg[k] = 0.9 * avg[k] + 0.1 * p.data().asnumpy() if k in avg else 0  #!\n"
    )
    assert of_mxnet(of_name) is None
    of_name = of_name.replace(" if k in avg else 0", "").replace("avg[k] +", "avg.get(k, 0) +")
    assert of_mxnet(of_name) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("params, decay, {}", "params, decay, load()"),
        ("def apply(self):", "def apply(self):\n        save(self.shadow)"),
        ("            self.shadow[name] =", "            log(now)\n            self.shadow[name] ="),
        ("(1 - self.decay) * now", "np.sign(now)"),
        ("        for name, p", "        with autograd.record():\n         for name, p"),
    ],
)
def test_not_where_something_else_may_want_numpys_arrays(old: str, new: str) -> None:
    assert old in AVERAGE
    assert of_mxnet(AVERAGE.replace(old, new, 1)) is None
    other = {"b.py": "print(average.shadow)\n"}
    assert fixed("host-sync", MX + AVERAGE, framework="mxnet", hops=PULLS, files=other) is None


def test_what_is_carried_on_is_told_so() -> None:
    carried = "is carried on from step to step, so that leaving steps out would change it: keep it on gpu:0"
    told = words(MX + AVERAGE.replace("params, decay, {}", "params, decay, load()"))
    assert told == (
        f"self.shadow at train.py:9 {carried}, made of p.data() itself, and fetch it where it is read, once"
        " at the end."
    )
    text = (
        "import tensorflow as tf\nfor x in data:\n    step(x)\n    for n, v in named:\n"
        "        ema[n] = 0.9 * ema[n] + 0.1 * v.numpy()  #!\n        show(ema)\n"
    )
    assert f"ema at train.py:5 {carried}, in that device's scope, made of v itself" in words(
        text, "tensorflow", "numpy"
    )
    listed = text.replace("ema[n] = 0.9 * ema[n] + 0.1 * v.numpy()", "ema = [a + v.numpy() for a in ema]")
    assert carried in words(listed, "tensorflow", "numpy")


def test_what_decides_something_too_is_told_so() -> None:
    text = (
        "import tensorflow as tf\nfor x in data:\n    for n, v in named:\n"
        "        now = v.numpy()  #!\n        ema[n] = 0.9 * ema[n] + 0.1 * now\n        if now.sum() > 3:\n"
        "            break\n"
    )
    assert "carried on" not in words(text, "tensorflow", "numpy")
