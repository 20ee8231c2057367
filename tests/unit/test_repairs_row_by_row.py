"""An array that a loop takes row by row is taken whole before it, where the text tells that it is one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.repair_cases import fixed, hop, said

HEADS = {"mxnet": "import mxnet as mx\nfrom mxnet import nd\n", "tensorflow": "import tensorflow as tf\n"}
PULL = hop("host-sync", each=32.0)
BOTH = """\
for x in data:
    pred = net(x).argmax(axis=1)
    for p, t in zip(pred, labels[2:].as_in_context(a)):
        seen[int(t.asscalar()), int(p.asscalar())] += 1  #!
"""
ONE = "for x in data:\n    pred = {}\n    for i, p in enumerate(pred):\n        seen[{}] += 1  #!\n"


def by_rows(text: str, framework: str = "mxnet", **more: Any) -> str | None:
    head = HEADS[framework]
    found = fixed("host-sync", head + text, framework=framework, hops=(PULL,), taken_by="int", **more)
    return found and found.removeprefix(head)


def test_rows_of_several_arrays_are_taken_before_the_loop() -> None:
    """Bug: "select on the device with nd.take" was said of what tells where numpy's array is added to."""
    assert by_rows(BOTH) == (
        "for x in data:\n    pred = net(x).argmax(axis=1)\n"
        "    for p, t in zip(pred.asnumpy(), labels[2:].as_in_context(a).asnumpy()):\n"
        "        seen[int(t), int(p)] += 1\n"
    )


@pytest.mark.parametrize(
    ("framework", "made", "taken", "after"),
    [
        ("tensorflow", "tf.argmax(net(x), 1)", "int(p)", ("pred.numpy()", "int(p)")),
        ("tensorflow", "tf.argmax(net(x), 1)", "p.numpy()", ("pred.numpy()", "p")),
        ("mxnet", "nd.argmax(net(x), axis=1)", "int(p.asscalar())", ("pred.asnumpy()", "int(p)")),
        # It may be a list of arrays, or numpy's.
        ("mxnet", "net(x)", "int(p.asscalar())", None),
        ("mxnet", "nd.split(net(x), 2)", "int(p.asscalar())", None),
        ("mxnet", "[net(x)]", "int(p.asscalar())", None),
        ("mxnet", "probs.argmax(axis=1)", "int(p)", None),
        ("tensorflow", "tf.unstack(net(x))", "int(p)", None),
        ("tensorflow", "ds.take(2)", "p.numpy()", None),
        # A row of MXNet's has one element, one of numpy's is a number.
        ("mxnet", "nd.argmax(net(x), axis=1)", "int(p.asnumpy()[0])", None),
    ],
)
def test_of_one_array(framework: str, made: str, taken: str, after: tuple[str, str] | None) -> None:
    text = ONE.format(made, taken)
    expected = (
        text.replace("  #!", "").replace("enumerate(pred)", f"enumerate({after[0]})") if after else None
    )
    assert by_rows(text, framework) == (expected and expected.replace(taken, after[1] if after else ""))


@pytest.mark.parametrize("more", ["        f(p)\n", "    f(p)\n", "        seen[p] = 1\n"])
def test_not_where_the_rows_are_used_as_arrays_too(more: str) -> None:
    text = ONE.format("nd.argmax(net(x), axis=1)", "int(p.asscalar())")
    assert by_rows(text + more) is None
    words = said("host-sync", HEADS["mxnet"] + text + more, framework="mxnet", hops=(PULL,), taken_by="int")
    assert words == (
        "The loop at train.py:5 takes row by row: take all rows by one fetch before it (pred.asnumpy()), and"
        " go over numpy's rows."
    )


def test_not_where_the_array_changes_in_the_loop() -> None:
    text = ONE.format("nd.argmax(net(x), axis=1)", "int(p.asscalar())") + "        pred[0] = 1\n"
    assert by_rows(text) is None
    words = said("host-sync", HEADS["mxnet"] + text, framework="mxnet", hops=(PULL,), taken_by="int")
    assert "row by row" not in (words or "")


def test_what_tells_where_something_is_assigned_selects_nothing_on_the_device() -> None:
    text = "for x in data:\n    seen[int(net(x).asscalar())] += 1  #!\n"
    words = said("host-sync", HEADS["mxnet"] + text, framework="mxnet", hops=(PULL,), taken_by="int")
    assert words == (
        "It tells which part of seen is assigned at train.py:4: take all that a step needs for that in one"
        " fetch."
    )
