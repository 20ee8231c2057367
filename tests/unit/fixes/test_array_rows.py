"""An array that a loop takes row by row is taken whole before it, where the text tells that it is one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.fixes.fix_cases import fixed, hop, said

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


FLAT = "for x in data:\n    pred = {}\n    out {}  #!\n"


def of_array(framework: str, made: str, use: str, **fields: Any) -> str | None:
    """What the marked statement becomes."""
    text = HEADS[framework] + FLAT.format(made, use)
    pull = hop("host-sync", each=32.0, **({"shape": "1"} if framework == "mxnet" else {}) | fields)
    found = fixed("host-sync", text, framework=framework, hops=(pull,))
    return found and found.splitlines()[-1].strip().removeprefix("out ")


@pytest.mark.parametrize(
    ("use", "after"),
    [
        ("+= [p.asscalar() for p in pred]", "+= list(pred.asnumpy())"),
        ("= {p.asscalar() for p in pred}", "= set(pred.asnumpy())"),
        ("= [float(p.asscalar()) for p in pred]", "= pred.asnumpy().tolist()"),
        ("= sum(float(p.asscalar()) for p in pred)", "= sum(pred.asnumpy().tolist())"),
        ("= [int(p.asscalar()) for p in pred]", "= [int(p) for p in pred.asnumpy()]"),
        ("= [p.asscalar() + 1 for p in pred]", "= [p + 1 for p in pred.asnumpy()]"),
        (
            "= np.array([p.asscalar() for p in pred if p.asscalar() > 0])",
            "= np.array([p for p in pred.asnumpy() if p > 0])",
        ),
        (
            "= {i: p.asscalar() for i, p in enumerate(pred)}",
            "= {i: p for i, p in enumerate(pred.asnumpy())}",
        ),
        ("= [(p, p.asscalar()) for p in pred]", None),
        ("= [f(p).asscalar() for p in pred]", None),
    ],
)
def test_values_of_one_array_are_taken_by_one_fetch(use: str, after: str | None) -> None:
    """Bug: "take the value every so many steps" was said of the values of one prediction."""
    assert of_array("mxnet", "net(x).argmax(axis=1)", use) == after


def test_rows_of_one_element_are_numbers_of_numpys() -> None:
    use = "= [p.asscalar() for p in pred]"
    assert of_array("mxnet", "nd.dot(x, w)", use) == "= list(pred.asnumpy().ravel())"
    assert of_array("mxnet", "nd.sum(x, axis=1, keepdims=True)", use) == "= list(pred.asnumpy().ravel())"
    assert of_array("mxnet", "nd.dot(x, w)", "= [p.asnumpy() for p in pred]") is None
    rows = of_array("mxnet", "nd.dot(x, w)", "= [p.asnumpy() for p in pred]", shape="9")
    assert rows == "= list(pred.asnumpy())"


def test_that_a_tensor_is_gone_over_is_known_from_its_slices() -> None:
    sliced: dict[str, Any] = {"producer_op": "StridedSlice", "producer_site": "train.py:4"}
    use = "= [float(p) for p in pred]"
    assert of_array("tensorflow", "model(x)", use, **sliced) == "= pred.numpy().tolist()"
    rows = of_array("tensorflow", "model(x)", "= [p.numpy() for p in pred]", shape="7", **sliced)
    assert rows == "= list(pred.numpy())"
    whole = of_array("tensorflow", "model(x)", use, dtype="int32", **sliced)
    assert whole == "= [float(p) for p in pred.numpy()]"
    assert of_array("tensorflow", "model(x)", use, **sliced | {"producer_site": "train.py:3"}) is None
    assert of_array("tensorflow", "model(x)", "= [float(p) for p in [pred[0], pred[2]]]", **sliced) is None


def test_another_loops_rows_may_have_the_same_name() -> None:
    text = ONE.format("nd.argmax(net(x), axis=1)", "int(p.asscalar())") + "    print([p + 1 for p in pred])\n"
    assert by_rows(text) == (
        text.replace("  #!", "").replace("enumerate(pred)", "enumerate(pred.asnumpy())")
    ).replace("int(p.asscalar())", "int(p)")


@pytest.mark.parametrize("framework", ["", "jax"])
def test_of_an_unknown_framework_no_line_is_changed(framework: str) -> None:
    """A run whose header was lost names none, at which its report failed."""
    text = HEADS["mxnet"] + BOTH
    assert fixed("host-sync", text, framework=framework, hops=(PULL,), taken_by="int") is None
