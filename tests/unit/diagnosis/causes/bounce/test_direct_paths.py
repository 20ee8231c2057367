"""Tensors that go there and back unchanged: the whole text that a fix makes."""

from __future__ import annotations

from typing import Any

import pytest

from app.diagnosis.explanation import Recorded, repair
from app.facts.placement import Op
from app.judgments.finding import Finding
from tests.unit.evidence_records import evidence
from tests.unit.fixes.fix_cases import DEVICES, fixed, hop

TF = "import tensorflow as tf\n"
MX = "import mxnet as mx\n"


def straight(text: str, last: int, *, way: tuple[str, ...] = ("gpu:0", "cpu:0", "gpu:0"), **more: Any) -> Any:
    """The text that the fix makes of a tensor that leaves at the marked line and comes at the last one."""
    first = next(number for number, one in enumerate(text.splitlines(), 1) if one.endswith("#!"))
    lines = [f"train.py:{first}", f"train.py:{last}"]
    made = more.pop("made", last)
    hops = (
        hop("explicit", way[0], way[1], op="Reshape", site=lines[0], producer_site="train.py:1"),
        hop("explicit", way[1], way[2], site=lines[1], producer_site=f"train.py:{made}"),
    )
    return fixed("bounce", text, hops=more.pop("hops", hops), lines=lines, stations=list(way), **more)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = mx.nd.array(h.asnumpy(), ctx=b)  #!\n", "y = h.as_in_context(b)\n"),
        ("y = mx.nd.array(f(x).asnumpy(), ctx=mx.gpu(1))  #!\n", "y = f(x).as_in_context(mx.gpu(1))\n"),
        (
            "with autograd.record():\n    y = mx.nd.array(h.asnumpy(), ctx=b)  #!\n",
            "with autograd.record():\n    y = h.detach().as_in_context(b)\n",
        ),
        (
            "def f(x):\n    return mx.nd.array(x.asnumpy(), ctx=b)  #!\n",
            "def f(x):\n    return x.detach().as_in_context(b)\n",
        ),
        ("y = mx.nd.array(h.asnumpy() + 1, ctx=b)  #!\n", None),
        ("y = mx.nd.array(h.asnumpy())  #!\n", None),
    ],
)
def test_an_array_goes_straight_to_the_other_context(before: str, after: str | None) -> None:
    found = straight(MX + before, before.rstrip().count("\n") + 2, framework="mxnet")
    assert found == (None if after is None else MX + after)


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("x = tf.identity(x)  #!\ny = f(x)\n", "y = f(x)\n"),
        ('with tf.device("/CPU:0"):\n    x = tf.identity(x)  #!\ny = f(x)\n', "y = f(x)\n"),
        ("def f(x):\n    x = tf.identity(x)  #!\n    return g(x)\n", "def f(x):\n    return g(x)\n"),
        ("with log:\n    x = tf.identity(x)  #!\ny = f(x)\n", "with log:\n    pass\ny = f(x)\n"),
        ("z = tf.identity(x)  #!\ny = f(z)\n", "z = x\ny = f(z)\n"),
    ],
)
def test_a_stop_that_is_a_whole_statement_is_dropped(text: str, after: str) -> None:
    """Bug: the fix for ``x = tf.identity(x)`` was ``x = x``."""
    assert straight(TF + text, 99) == TF + after


def test_a_function_whose_result_passes_the_default_device_is_called_in_a_scope() -> None:
    hops = (
        hop("unknown", "gpu:0", op="Identity", site="train.py:3", producer_site="train.py:9"),
        hop("unknown", "cpu:0", "gpu:0", op="_Retval", site="train.py:3", producer_site="train.py:3"),
    )
    text = f"{TF}for x in xs:\n    f(x)  #!\n"
    told: dict[str, Any] = {"hops": hops, "result_of_a_call": True}
    assert straight(text, 3, **told) == f'{TF}for x in xs:\n    with tf.device("/GPU:0"):\n        f(x)\n'
    assert straight(f"{TF}def g(x):\n    yield f(x)  #!\n", 3, **told) is None
    second = hop("unknown", "cpu:0", "gpu:1", op="_Retval", site="train.py:3")
    assert straight(text, 3, others=(second,), **told) is None
    scoped = f'{TF}with tf.device("/GPU:0"):\n    f(x)  #!\n'
    assert straight(scoped, 3, **told) is None
    # Calls of several cards in turn need a scope each.
    assert straight(text, 3, ways=[["gpu:0", "cpu:0", "gpu:0"], ["gpu:1", "cpu:0", "gpu:1"]], **told) is None
    mirrored = f"{text}s = tf.distribute.MirroredStrategy()\n"
    assert straight(mirrored, 3, **told) is None
    # Of a note without advice, as of a scalar, no code is changed.
    said = {"result_of_a_call": True, "stations": ["gpu:0", "cpu:0", "gpu:0"], "lines": ["train.py:3"] * 2}
    source = text.replace("  #!", "")
    for fix in ("Call it there.", None):
        note = Finding("bounce", "info", "train.py:3", "", evidence("bounce", said), fix, (0, 1), True)
        assert (repair(note, Recorded(hops, {"train.py": source}.get, "tensorflow", DEVICES)) is None) is (
            fix is None
        )


def test_a_function_within_another_is_called_where_its_result_is_used() -> None:
    text = f"{TF}def run(x):\n    return decode(encode(x))  #!\n"
    hops = (
        hop("unknown", "gpu:0", op="Identity", tensor="Call/Relu:0", site="train.py:3"),
        hop("unknown", "cpu:0", "gpu:1", tensor="StatefulPartitionedCall/Identity:0", site="train.py:7"),
    )
    found = straight(text, 7, way=("gpu:0", "cpu:0", "gpu:1"), hops=hops)
    assert found == f'{TF}def run(x):\n    with tf.device("/GPU:1"):\n        return decode(encode(x))\n'

    # Where that is all that a function does, its own result would pass the default device next.
    called = f"{text}for x in xs:\n    run(x)\n"
    assert straight(called, 7, way=("gpu:0", "cpu:0", "gpu:1"), hops=hops) == (
        f"{TF}def run(x):\n    return decode(encode(x))\n"
        'for x in xs:\n    with tf.device("/GPU:1"):\n        run(x)\n'
    )


def test_a_line_that_is_run_for_each_stop_is_not_dropped_as_one() -> None:
    relay = "def relay(x, *route):\n    for stop in route:\n        with tf.device(stop):\n"
    line = "            x = tf.identity(x)  #!\n    return x\n"
    assert straight(TF + relay + line, 5, way=("gpu:0", "cpu:0", "gpu:1")) is None
    arrays = (
        "def relay(x, *route):\n    for stop in route:\n        x = x.as_in_context(stop)  #!\n    return x\n"
    )
    assert straight(MX + arrays, 4, framework="mxnet") is None


RETURNED = "import tensorflow as tf\n\nfor x in data:\n    loss = step(x)  #!\n"


def test_a_call_stays_where_its_function_computes_without_a_scope() -> None:
    """Bug: for a scalar that the function returns, all that it does without a scope was moved along."""
    hops = (
        hop("default-device", "gpu:1", "gpu:0", op="Identity", site="train.py:4", producer_site="train.py:9"),
        hop("default-device", "gpu:0", "gpu:1", op="_Retval", site="train.py:4", producer_site="train.py:4"),
    )
    told: dict[str, Any] = {"stations": ["gpu:1", "gpu:0", "gpu:1"], "result_of_a_call": True}
    told |= {"lines": ["train.py:4", "train.py:4"], "hops": hops}
    assert fixed("bounce", RETURNED, **told) is not None
    inside = Op("MatMul", "MatMul", "", "gpu:0", "train.py:9", "step")
    assert fixed("bounce", RETURNED, ran=(inside,), **told) is None


def test_a_stop_on_the_host() -> None:
    text = 'import tensorflow as tf\nwith tf.device("CPU:0"):\n    y = tf.identity(x)  #!\n'
    found = fixed("bounce", text, lines=["train.py:3", "train.py:9"])
    assert found == 'import tensorflow as tf\nwith tf.device("CPU:0"):\n    y = x\n'
