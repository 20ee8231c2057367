"""Tensors that go there and back unchanged: the whole text that a fix makes."""

from __future__ import annotations

from typing import Any

import pytest

from app.diagnosis.fix_choice import repair
from app.judgments.finding import Finding
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


ARRAYS = {
    "by the host, reshaped": (
        "t = z.as_in_context(mx.cpu())  #!\nu = t.reshape((3, 4)).as_in_context(a)\n",
        "u = z.reshape((3, 4)).as_in_context(a)\n",
    ),
    "reshaped there": (
        "t = z.as_in_context(mx.cpu()).reshape((3, 4))  #!\nu = t.as_in_context(a)\n",
        "u = z.reshape((3, 4)).as_in_context(a)\n",
    ),
    "reshaped there under one name": (
        "def f(x):\n    x = x.as_in_context(mx.cpu())  #!\n"
        "    x = x.reshape(s)\n    return x.as_in_context(a)\n",
        "def f(x):\n    x = x.reshape(s)\n    return x.as_in_context(a)\n",
    ),
    "computed there": (
        "def f(x):\n    x = x.as_in_context(mx.cpu())  #!\n    x = x * 2\n    return x.as_in_context(a)\n",
        None,
    ),
    "there and back": ("q = h.copyto(b)  #!\nr = q.copyto(a)\n", "r = h.as_in_context(a)\n"),
    "there and back, used there": (
        "q = h.copyto(b)  #!\nf(q)\nr = q.copyto(a)\n",
        "q = h.copyto(b)\nf(q)\nr = h.as_in_context(a)\n",
    ),
    "changed after": ("q = h.copyto(b)  #!\nr = q.copyto(a)\nr[:] = 0\n", None),
    "another value by then": ("q = h.copyto(b)  #!\nh = f(h)\nr = q.as_in_context(a)\n", None),
    "into an array": ("q = h.copyto(b)  #!\nq.copyto(r)\n", None),
    "only sometimes": ("if c:\n    q = h.copyto(b)  #!\nr = q.copyto(a)\n", None),
    "recorded": (
        "with autograd.record():\n    y = mx.nd.array(h.asnumpy(), ctx=b)  #!\n",
        "with autograd.record():\n    y = h.detach().as_in_context(b)\n",
    ),
    "in a function, which autograd may record where it is called": (
        "def f(x):\n    return mx.nd.array(x.asnumpy(), ctx=b)  #!\n",
        "def f(x):\n    return x.detach().as_in_context(b)\n",
    ),
    "taken for a round that is recorded": (
        "for x in y:\n    with autograd.record():\n        h = f(x, h)\n"
        "    h = mx.nd.array(h.asnumpy(), ctx=b)  #!\n",
        "for x in y:\n    with autograd.record():\n        h = f(x, h)\n"
        "    h = h.detach().as_in_context(b)\n",
    ),
    "by numpy, without gradients": (
        "y = mx.nd.array(h.asnumpy(), ctx=b)  #!\n",
        "y = h.as_in_context(b)\n",
    ),
    "by numpy, changed after": (
        "y = mx.nd.array(h.asnumpy(), ctx=b)  #!\ny[:] = 0\n",
        "y = h.copyto(b)\ny[:] = 0\n",
    ),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays(name: str) -> None:
    before, after = ARRAYS[name]
    found = straight(MX + before, before.rstrip().count("\n") + 2, framework="mxnet")
    assert found == (None if after is None else MX + after)


PULLED = {
    "a name": (
        "a = n.numpy()  #!\nwith tf.device(B):\n    c = tf.constant(a)\n",
        "with tf.device(B):\n    c = tf.identity(n)\n",
    ),
    "a call": (
        "with tf.device(A):\n    a = f(x).numpy()  #!\nwith tf.device(B):\n    g(tf.constant(a))\n",
        "with tf.device(A):\n    a = f(x)\nwith tf.device(B):\n    g(tf.identity(a))\n",
    ),
    "for Python too": ("a = f(x).numpy()  #!\nprint(a)\ng(tf.constant(a))\n", None),
    "another tensor by then": ("a = n.numpy()  #!\nn = f(n)\nc = tf.constant(a)\nprint(a)\n", None),
    "kept from a round before": ("a = n.numpy()  #!\nfor i in y:\n    n = f(tf.constant(a))\n", None),
    "watched": (
        "with tf.GradientTape() as tape:\n    a = n.numpy()  #!\n    c = tf.constant(a)\n",
        "with tf.GradientTape() as tape:\n    c = tf.stop_gradient(n)\n",
    ),
    "in a function, which a tape may watch where it is called": (
        "def f(n):\n    return tf.constant(n.numpy())  #!\n",
        "def f(n):\n    return tf.stop_gradient(n)\n",
    ),
    "another type": ("a = n.numpy()  #!\nc = tf.constant(a, tf.float16)\n", None),
}


@pytest.mark.parametrize("name", PULLED)
def test_values_that_python_takes_and_sends(name: str) -> None:
    before, after = PULLED[name]
    pulled = hop("host-sync", "gpu:0", site="train.py:2")
    found = straight(TF + before, before.count("\n") + 1, hops=(pulled,))
    assert found == (None if after is None else TF + after)


RESHAPED = {
    "a scope of its own": (
        'def move(t):\n    with tf.device("/CPU:0"):\n        return tf.reshape(t, (3, 4))  #!\n',
        'def move(t):\n    with tf.device("/GPU:0"):\n        return tf.reshape(t, (3, 4))\n',
    ),
    "a scope with more": (
        'with tf.device("/CPU:0"):\n    n = 1\n    y = tf.transpose(t)  #!\n',
        'with tf.device("/CPU:0"):\n    n = 1\n    with tf.device("/GPU:0"):\n        y = tf.transpose(t)\n',
    ),
    "computes too": ('with tf.device("/CPU:0"):\n    y = tf.reshape(t, (3, 4)) + w  #!\n', None),
    "by another function": ('with tf.device("/CPU:0"):\n    y = tf.reshape(f(t), (3, 4))  #!\n', None),
}


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


@pytest.mark.parametrize("name", RESHAPED)
def test_what_only_reshapes_stays_where_the_tensor_is(name: str) -> None:
    before, after = RESHAPED[name]
    line = before.count("\n") + 1
    assert straight(TF + before, 99, made=line) == (None if after is None else TF + after)


def test_several_that_reshape_without_a_scope() -> None:
    text = f"{TF}g = tf.reshape(h, (3, 4))  #!\nh = tf.transpose(g)\ny = f(h)\n"
    assert straight(text, 4, made=3) == (
        f'{TF}with tf.device("/GPU:0"):\n    g = tf.reshape(h, (3, 4))\n    h = tf.transpose(g)\ny = f(h)\n'
    )


def test_what_comes_from_other_devices_too_stays() -> None:
    text = f'{TF}def move(t):\n    with tf.device("/CPU:0"):\n        return tf.reshape(t, (3, 4))  #!\n'
    other = hop("explicit", "gpu:1", "cpu:0", site="train.py:4", bytes=4096)
    assert straight(text, 99, made=4, others=(other,)) is None


DECORATED = """\
def on_host(fn):
    def wrapper(*args):
        with tf.device("/CPU:0"):
            return fn(*args)
    return wrapper
@on_host
def heads(x):
    return tf.transpose(x)  #!
with tf.device("/GPU:0"):
    y = f(heads(x))
"""


def test_a_decorator_that_moves_what_only_reshapes() -> None:
    found = straight(TF + DECORATED, 11, made=9)
    assert found == TF + DECORATED.replace("@on_host\n", "").replace("  #!", "")
    assert straight(f"{TF}{DECORATED}z = heads(x)\n", 11, made=9) is None


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
        note = Finding("bounce", "info", "train.py:3", "", said, fix, (0, 1), True)
        assert (repair(note, hops, {"train.py": source}.get, "tensorflow", DEVICES) is None) is (fix is None)


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


@pytest.mark.parametrize(
    ("framework", "before", "after"),
    [
        ("tensorflow", "tf.constant(np.reshape(x.numpy(), [-1, n]))", "tf.reshape(x, [-1, n])"),
        ("tensorflow", "tf.convert_to_tensor(x.numpy().reshape((4, 2)))", "tf.reshape(x, (4, 2))"),
        ("tensorflow", "tf.constant(np.reshape(x.numpy(), shape))", None),
        ("tensorflow", "tf.constant(np.transpose(x.numpy(), [1, 0]))", None),
        (
            "mxnet",
            "nd.array(x.asnumpy().reshape((-1, 4)), ctx=b)",
            "x.reshape((-1, 4)).as_in_context(b)",
        ),
        ("mxnet", "nd.array(x.asnumpy().reshape((0, -2)), ctx=b)", None),
    ],
)
def test_what_numpy_only_reshapes_is_reshaped_on_the_device(
    framework: str, before: str, after: str | None
) -> None:
    head = "import numpy as np\nimport tensorflow as tf\nfrom mxnet import nd\nfor x in data:\n    y = "
    taken = "numpy" if framework == "tensorflow" else "asnumpy"
    for code in ("host-sync", "bounce"):
        pulls = (hop("host-sync", each=1.0),)
        found = fixed(code, f"{head}{before}  #!\n", framework=framework, hops=pulls, taken_by=taken)
        assert found == (f"{head}{after}\n" if after else None)


def test_what_a_tape_may_watch_gets_no_gradient_that_numpy_had_cut() -> None:
    text = f"{TF}def f(x):\n    return tf.constant(x.numpy().reshape([4]))  #!\ntf.GradientTape\n"
    made = fixed("host-sync", text, hops=(hop("host-sync"),), taken_by="numpy") or ""
    assert "return tf.stop_gradient(tf.reshape(x, [4]))" in made


BACK = """\
import tensorflow as tf
for x in data:
    with tf.device("/GPU:1"):
        a = f(x)
    b = tf.convert_to_tensor(a.numpy())  #!
    with tf.device("/GPU:0"):
        g(b)
"""


def test_what_python_hands_on_outside_of_scopes_is_the_tensor_itself() -> None:
    """Bug: ``tf.identity`` ran on the default device there, which made the next detour."""
    pulled = hop("host-sync", "gpu:1", each=1.0, site="train.py:5", producer_site="train.py:4")

    def sent(text: str, pull: Any = pulled, *others: Any) -> str | None:
        return fixed("host-sync", text, hops=(pull,), others=others, taken_by="numpy")

    def handed(code: str) -> str:
        return BACK.replace("tf.convert_to_tensor(a.numpy())  #!", code)

    assert sent(BACK) == handed("a")
    for kind in ("ReadVariableOp", "Identity"):
        at = {"site": "train.py:5", "producer_site": "train.py:5"}
        variable = hop("host-sync", "gpu:1", each=1.0, producer_op=kind, **at)
        assert sent(BACK, variable) == handed("tf.identity(a)")

    inside = BACK.replace("    b = ", '    with tf.device("/CPU:0"):\n        b = ')
    kept = inside.replace("tf.convert_to_tensor(a.numpy())  #!", "{}")
    in_scope = hop("host-sync", "gpu:1", each=1.0, site="train.py:6", producer_site="train.py:4")
    assert sent(inside, in_scope) == kept.format("tf.identity(a)")
    used = hop("host-upload", "cpu:0", "gpu:0", kind="upload", site="train.py:8", producer_site="train.py:6")
    assert sent(inside, in_scope, used) == kept.format("a")


AGAIN = """\
import tensorflow as tf
for x in data:
    a = f(x)
    b = a.numpy()  #!
    c = tf.constant(b)
    g(c)
"""


def test_the_line_that_makes_a_tensor_again_of_what_python_took_takes_the_tensor() -> None:
    def sent(producer_op: str) -> str | None:
        pulled = hop(
            "host-sync", "gpu:1", site="train.py:4", producer_site="train.py:3", producer_op=producer_op
        )
        sent_on = hop(
            "host-upload", "cpu:0", "gpu:1", kind="arg", site="model.py:9", producer_site="train.py:5"
        )
        told = {"lines": ["train.py:4", "model.py:9"], "stations": ["gpu:1", "cpu:0", "gpu:1"]}
        return fixed("bounce", AGAIN, hops=(pulled, sent_on), tensor_again_at="train.py:5", **told)

    assert sent("f") == AGAIN.replace("    b = a.numpy()  #!\n    c = tf.constant(b)\n", "    c = a\n")
    assert sent("ReadVariableOp") is None, "a copy in no scope would pass the default device again"


def test_a_line_that_is_run_for_each_stop_is_not_dropped_as_one() -> None:
    relay = "def relay(x, *route):\n    for stop in route:\n        with tf.device(stop):\n"
    line = "            x = tf.identity(x)  #!\n    return x\n"
    assert straight(TF + relay + line, 5, way=("gpu:0", "cpu:0", "gpu:1")) is None
    arrays = (
        "def relay(x, *route):\n    for stop in route:\n        x = x.as_in_context(stop)  #!\n    return x\n"
    )
    assert straight(MX + arrays, 4, framework="mxnet") is None
