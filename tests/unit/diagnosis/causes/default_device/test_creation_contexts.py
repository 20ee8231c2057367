"""MXNet arrays that are made without a context only to be copied: the context goes to what makes them."""

from __future__ import annotations

from typing import Any

import pytest

from app.facts.transfers.hops import Hop
from app.fixes.code.edits import applied
from tests.unit.fixes.fix_cases import fixed, hop, mx_fixed, proposed

MX = "import mxnet as mx\nfrom mxnet import gluon, nd\nCARD = mx.gpu(1)\n"


def sent(site: str, producer_site: str) -> Hop:
    row: dict[str, Any] = {"site": site, "producer_site": producer_site, "blames": "producer"}
    return hop("default-device", "cpu:0", "gpu:1", **row)


def made(text: str, made_at: tuple[int, ...] = (), copied_at: int = 0, **more: Any) -> str | None:
    """What is below the imports, with the fix; the marked line copies what it makes, unless it is said."""
    above = len(MX.splitlines())
    marked = next(number for number, line in enumerate(text.splitlines(), 1) if line.endswith("#!"))
    sites = [f"train.py:{above + line}" for line in made_at or (marked,)]
    copied = f"train.py:{above + (copied_at or marked)}"
    told = {"made_without_context": ["normal"], "made_at": sites, "copied_at": copied}
    rows = (sent(copied, sites[0] if not copied_at else copied),)
    found = fixed("default-device", MX + text, framework="mxnet", hops=rows, **told, **more)
    return found.removeprefix(MX) if found is not None else None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("b[:] = nd.random.uniform(shape=8)", "b[:] = nd.random.uniform(shape=8, ctx=b.context)"),
        ("self.b[:, 1] = nd.ones(8)", "self.b[:, 1] = nd.ones(8, ctx=self.b.context)"),
    ],
)
def test_what_a_line_makes_and_copies_is_made_there(before: str, after: str) -> None:
    assert made(f"for m in data:\n    {before}  #!\n") == f"for m in data:\n    {after}\n"


WAY = """\
def positions(length, width, ctx):
    steps = nd.arange(length).reshape((-1, 1))  #!
    rates = nd.power(10000, -nd.arange(0, width, 2) / width)
    table = nd.sin(nd.dot(steps, rates))
    return table.expand_dims(0).as_in_context(ctx)
"""


def test_all_that_goes_into_what_is_copied_is_made_there() -> None:
    done = WAY.replace("(length)", "(length, ctx=ctx)").replace("2)", "2, ctx=ctx)").replace("  #!", "")
    assert made(WAY, (2, 3), 5) == done


def test_a_context_is_that_of_an_input_up_to_where_its_name_gets_another_value() -> None:
    text = "def forward(self, x):\n    noise = nd.ones(8)  #!\n    x = x + noise.as_in_context(x.context)\n"
    done = text.replace("(8)", "(8, ctx=x.context)").replace("  #!", "")
    assert made(text, (2,), 3) == done
    looped = text.replace("    noise", "    for _ in range(3):\n     noise").replace("    x =", "     x =")
    assert "ctx=x" not in (made(looped, (3,), 4) or "")


@pytest.mark.parametrize(
    "text",
    [
        WAY.replace("    return", "    ctx = pick()\n    return"),
        WAY.replace("as_in_context(ctx)", "as_in_context(pick(table))"),
    ],
)
def test_a_context_that_is_not_known_where_the_array_is_made_is_not_handed_there(text: str) -> None:
    found = made(text, (2, 3), 5 if "ctx = pick" not in text else 6)
    assert found is None or "ctx=ctx" not in found


DRAWS_OTHERS = "; a device draws other numbers than the host."


def test_of_numbers_that_a_device_draws_otherwise_the_fix_says_so() -> None:
    way = "def step(self):\n    z = nd.random_normal(shape=(8, 4))  #!\n    z = z.as_in_context(self.ctx)\n"
    helper = (
        "def noise(n):\n    return nd.{}((n, 4))  #!\n\n\ndef step():\n    z = noise(8).as_in_context(CARD)\n"
    )
    for text, copied, change, ending in (
        (way, 3, "(8, 4), ctx=self.ctx)", f"then returns it as it is{DRAWS_OTHERS}"),
        (helper.format("random.randn"), 6, "(n, 4), ctx=CARD)", f"so that nothing crosses{DRAWS_OTHERS}"),
        (helper.format("ones"), 6, "(n, 4), ctx=CARD)", "from the start, so that nothing crosses."),
    ):
        above, line = len(MX.splitlines()), 2
        there = f"train.py:{above + copied}"
        sites = {"made_at": [f"train.py:{above + line}"], "copied_at": there}
        rows = (sent(there, there),)
        told: dict[str, Any] = {"made_without_context": ["normal"], **sites}
        before, found = proposed("default-device", MX + text, framework="mxnet", hops=rows, **told)
        assert found is not None and found.words.endswith(ending)
        assert change in applied(before, found.edits)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("z = x + mx.nd.ones(3)  #!\n", "z = x + mx.nd.ones(3, ctx=mx.gpu(1))\n"),
        ("mask = mx.nd.ones(\n    (3, 4),  #!\n)\n", "mask = mx.nd.ones(\n    (3, 4), ctx=mx.gpu(1),\n)\n"),
        (
            "ctx = mx.gpu(1)\nif a: mask = mx.nd.zeros(shape=(3))  #!\n",
            "ctx = mx.gpu(1)\nif a: mask = mx.nd.zeros(shape=(3), ctx=ctx)\n",
        ),
        ("def f():\n\treturn make(3)  #!\n", None),
        ("z = mx.nd.ones(3) + mx.nd.zeros(3)  #!\n", None),
        ("make = lambda: build(3)  #!\n", None),
    ],
)
def test_an_array_that_nobody_placed(before: str, after: str | None) -> None:
    made = hop("default-device", "cpu:0", "gpu:1", blames="producer")
    assert mx_fixed("default-device", before, hops=(made,)) == after
