"""Inputs of an op on several contexts are created on one, or brought there."""

from __future__ import annotations

from typing import Any

import pytest

from app.fixes.code.edits import applied
from tests.unit.fixes.fix_cases import MX, fixed, mx_fixed, op, proposed

MIXED: dict[str, tuple[str, str, str | None]] = {
    "a sum": (
        "broadcast_add",
        "z = f(x) if q else a + b[0]  #!\n",
        "z = f(x) if q else a + b[0].as_in_context(a.context)\n",
    ),
    "an argument over lines": (
        "dot",
        "z = mx.nd.dot(\n    a,  #!\n    b * 2,\n)\n",
        "z = mx.nd.dot(\n    a,\n    (b * 2).as_in_context(a.context),\n)\n",
    ),
    "a method, returned on one line": (
        "dot",
        "def f(a, b): return a.dot(b)  #!\n",
        "def f(a, b): return a.dot(b.as_in_context(a.context))\n",
    ),
    "a method of a part": (
        "batch_dot",
        "z = xs[0].batch_dot(w) if q else mx.nd.linalg.f(a)  #!\n",
        "z = xs[0].batch_dot(w.as_in_context(xs[0].context)) if q else mx.nd.linalg.f(a)\n",
    ),
    "in place": ("_plus", "while q:\n    a += b  #!\n", "while q:\n    a += b.as_in_context(a.context)\n"),
    "a loss": (
        "elemwise_sub",
        "l = loss_fn(out, label)  #!\n",
        "l = loss_fn(out, label.as_in_context(out.context))\n",
    ),
    "in a comprehension": (
        "_mul",
        "zs = [a * b for a, b in pairs]  #!\n",
        "zs = [a * b.as_in_context(a.context) for a, b in pairs]\n",
    ),
    "two that it may be": ("_plus", "z = a + b + c  #!\n", None),
    "something made for it": ("_plus", "z = f(a) + b  #!\n", None),
    "a network": ("FullyConnected", "z = net(x)  #!\n", None),
}


@pytest.mark.parametrize("name", MIXED)
def test_mixed_contexts(name: str) -> None:
    op, before, after = MIXED[name]
    assert mx_fixed("mixed-context", before, ops=[op], ran_on=["gpu:0"], inputs_also_on=["gpu:1"]) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "ctx = mx.gpu(0)\nw = mx.nd.random.normal(\n    shape=(3, 4)\n)\nb = mx.nd.zeros(4)\n"
            "def net(x):\n    return mx.nd.dot(x, w) + b  #!\n",
            "ctx = mx.gpu(0)\nw = mx.nd.random.normal(\n    shape=(3, 4), ctx=ctx\n)\n"
            "b = mx.nd.zeros(4, ctx=ctx)\n"
            "def net(x):\n    return mx.nd.dot(x, w) + b\n",
        ),
        (
            "x = mx.nd.ones((4, 3))\ny = net(x)  #!\n",
            "x = mx.nd.ones((4, 3), ctx=mx.gpu(0))\ny = net(x)\n",
        ),
        (
            "state = cell.begin_state(batch_size=8)\nfor x in xs: out, state = cell(x, state)  #!\n",
            "state = cell.begin_state(batch_size=8, ctx=mx.gpu(0))\n"
            "for x in xs: out, state = cell(x, state)\n",
        ),
        (
            "def f(x, y):\n    return mx.nd.multiply(x, y)  #!\n",
            "def f(x, y):\n    return mx.nd.multiply(x, y.as_in_context(x.context))\n",
        ),
        ("y = net(load())  #!\n", None),
    ],
)
def test_inputs_that_were_made_on_the_host(before: str, after: str | None) -> None:
    lines = [
        number for number, one in enumerate(before.splitlines(), 3) if " = mx.nd." in one or "begin" in one
    ]
    told: dict[str, Any] = {"ops": ["dot", "broadcast_add", "broadcast_mul"], "ran_on": ["gpu:0"]}
    told |= {"inputs_also_on": ["cpu:0"], "made_on_default_at": [f"train.py:{line}" for line in lines]}
    assert mx_fixed("mixed-context", before, **told) == after


def test_mixed_contexts_of_numpy_like_arrays() -> None:
    text = "from mxnet import np, npx\nz = a + b  #!\n"
    assert fixed("mixed-context", text, framework="mxnet", ops=["add"]) == (
        "from mxnet import np, npx\nz = a + b.as_in_ctx(a.ctx)\n"
    )


def test_of_two_contexts_the_one_that_is_no_host_is_kept() -> None:
    text = "import mxnet as mx\ny = mask * hidden  #!\n"
    told: dict[str, Any] = {"ops": ["broadcast_mul"], "ran_on": ["cpu:0"], "inputs_also_on": ["gpu:0"]}
    brought = mx_fixed("mixed-context", text, **told)
    assert brought == "import mxnet as mx\ny = mask.as_in_context(hidden.context) * hidden\n"
    assert mx_fixed("mixed-context", "import mxnet as mx\nmask *= hidden  #!\n", **told) is None


FAR = """\
class Weighted:
    def __init__(self):
        self.weights = mx.nd.ones((4,))

    def loss(self, x):
        return (x * self.weights).sum()  #!
"""


def test_a_context_is_given_at_the_line_that_made_the_array_without_one() -> None:
    """Bug: the array was brought over in each step, though the evidence named the line that made it."""
    told: dict[str, Any] = {
        "ops": ["broadcast_mul"],
        "ran_on": ["gpu:1"],
        "inputs_also_on": ["cpu:0"],
        "made_on_default_at": ["train.py:5"],
    }
    done = FAR.replace("(4,)", "(4,), ctx=mx.gpu(1)").replace("  #!", "")
    assert mx_fixed("mixed-context", FAR, **told) == done
    other = FAR + "    def norm(self):\n        return self.weights.norm()\n"
    host = (op(10, "norm", "cpu:0"),)
    assert "ctx=" not in (mx_fixed("mixed-context", other, ran=host, **told) or "")
    two = told | {"inputs_also_on": ["cpu:0", "gpu:0"]}
    assert "ctx=" not in (mx_fixed("mixed-context", FAR, **two) or "")


def test_a_context_is_given_in_the_file_that_made_the_array() -> None:
    made = "import mxnet as mx\nMASK = mx.nd.ones(3)\n"
    told: dict[str, Any] = {"ops": ["broadcast_mul"], "ran_on": ["gpu:1"], "inputs_also_on": ["cpu:0"]}
    known: dict[str, Any] = {"framework": "mxnet", "files": {"parts.py": made}}
    use = MX + "y = x * parts.MASK  #!\n"
    _, found = proposed("mixed-context", use, made_on_default_at=["parts.py:2"], **told, **known)
    assert found is not None
    assert applied(made, found.edits) == made.replace("(3)", "(3, ctx=mx.gpu(1))")
