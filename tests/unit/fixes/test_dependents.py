"""A statement that goes into a device scope: what has to go with it, and what keeps it where it is."""

from __future__ import annotations

from typing import Any

from app.facts.placement import Op
from tests.unit.fixes.fix_cases import fixed, hop, op, said

TF = "import tensorflow as tf\n"


def scoped(text: str, *ran: Op, others: tuple[Any, ...] = (), devices: Any = ()) -> str | None:
    """The text that the fix makes of an op that takes what is on gpu:1 to the host."""
    told: dict[str, Any] = {"devices": devices} if devices else {}
    taken = hop("default-device", "gpu:1", site="train.py:1")
    found = fixed("default-device", TF + text, hops=(taken,), ran=ran, others=others, **told)
    return None if found is None else found.removeprefix(TF)


AVERAGE = """\
class Average:
    def __init__(self, weights):
        self.pairs = [(w, tf.Variable(w)) for w in weights]
    def update(self):
        for w, shadow in self.pairs:
            shadow.assign(0.9 * shadow + 0.1 * w)  #!
"""
HOST = ("cpu:0", "cpu:1", "gpu:1")
"""Devices of a run whose default one is the host."""
SHADOWS = (
    op(7, "ReadVariableOp", "cpu:0"),
    op(7, "ReadVariableOp", "gpu:1"),
    op(7, "Mul", "cpu:0"),
    op(7, "AssignVariableOp", "cpu:0"),
)


def test_what_is_assigned_on_the_default_device_keeps_the_statement_there() -> None:
    """Bug: only the statement was moved, so that the shadows went to and fro: two transfers for one."""
    assert scoped(AVERAGE, *SHADOWS, op(4, "VarHandleOp", "cpu:0"), devices=("cpu:0", "cpu:1")) is None


def test_a_statement_stays_where_a_variable_of_it_stays() -> None:
    third = tuple(op(7, one.type, "gpu:0") if one.assigned == "cpu:0" else one for one in SHADOWS)
    assert scoped(AVERAGE, *third, op(4, "VarHandleOp", "gpu:0"), devices=HOST[:2]) is None
    # Where no op is known of, nothing says where the variable is that it assigns.
    assert scoped("shadow.assign(0.9 * shadow + 0.1 * w)  #!\n") is None


def test_a_statement_with_inputs_from_two_devices_stays() -> None:
    text = "y = a + b  #!\n"
    ran = (op(2, "AddV2", "cpu:0"),)
    other = hop("explicit", "gpu:0", "cpu:0", bytes=4096, site="train.py:2")
    assert scoped(text, *ran, others=(other,)) is None
    small = hop("explicit", "gpu:0", "cpu:0", bytes=4, site="train.py:2")
    there = hop("explicit", "cpu:0", "gpu:1", bytes=4096, site="train.py:2")
    line = hop("explicit", "gpu:0", "cpu:0", bytes=4096, site="train.py:22")
    assert scoped(text, *ran, others=(small, there, line)) is not None


STEP = """\
def step(x):
    with tf.GradientTape() as tape:
        hidden = first(x)
        logits = second(hidden)  #!
        loss = tf.reduce_mean(logits)
    grads = tape.gradient(loss, weights)
    for w, g in zip(weights, grads):
        w.assign_sub(0.1 * g)
    print(x)
    return loss
"""


def test_what_shares_its_tensors_on_the_default_device_comes_along() -> None:
    """GIVEN a step without any scope WHEN one op of it is told THEN no transfer only moves on to the next."""
    ran = (
        *(op(line, "MatMul", "cpu:0") for line in (4, 5)),
        op(6, "Mean", "cpu:0"),
        op(7, "MatMul", "cpu:0"),
        op(9, "Mul", "cpu:0"),
        op(9, "AssignSubVariableOp", "gpu:1"),
    )
    before = hop("default-device", "gpu:1", "cpu:0", site="train.py:4", bytes=4096)
    assert scoped(STEP, *ran, others=(before,)) == (
        "def step(x):\n"
        "    with tf.GradientTape() as tape:\n"
        '        with tf.device("/GPU:1"):\n'
        "            hidden = first(x)\n"
        "            logits = second(hidden)\n"
        "            loss = tf.reduce_mean(logits)\n"
        '    with tf.device("/GPU:1"):\n'
        "        grads = tape.gradient(loss, weights)\n"
        "    for w, g in zip(weights, grads):\n"
        '        with tf.device("/GPU:1"):\n'
        "            w.assign_sub(0.1 * g)\n"
        "    print(x)\n"
        "    return loss\n"
    )


def test_what_cannot_come_along_keeps_the_statement_unless_little_goes_there() -> None:
    text = "def f(x):\n    y = g(x)  #!\n    while tf.reduce_any(y > 0):\n        pass\n"
    loop = op(4, "Greater", "cpu:0")
    assert scoped(text, op(3, "MatMul", "cpu:0"), loop) is None
    assert scoped(text, op(3, "MatMul", "cpu:0"), op(3, "Mean", "cpu:0"), loop) is not None
    assert scoped(text, op(3, "MatMul", "cpu:0"), op(4, "Greater", "gpu:0", "gpu:0")) is not None


TRACED = """\
@tf.function
def loss(x):
    return tf.reduce_mean(x @ w)  #!
for x in data:
    with tf.GradientTape() as tape:
        value = loss(x)
    grads = tape.gradient(value, weights)
    for w, g in zip(weights, grads):
        w.assign_sub(0.1 * g)
"""


def test_what_a_tape_around_a_call_watches_is_not_moved_without_its_gradients() -> None:
    """Bug: only the forward ops were moved, so that all that the gradients need of them came back."""
    ran = (op(4, "MatMul", "cpu:0"), op(7, "MatMul", "cpu:0"), op(10, "Mul", "cpu:0"))
    assert scoped(TRACED, *ran) is None
    # What no tape watches goes by itself.
    average = "def average(v):\n    return tf.reduce_mean(v)  #!\n" + TRACED.replace("  #!", "")
    assert scoped(f"{average}average(w)\n", op(3, "Mean", "cpu:0")) == (
        'def average(v):\n    with tf.device("/GPU:1"):\n        return tf.reduce_mean(v)\n'
        + TRACED.replace("  #!", "")
        + "average(w)\n"
    )


APPLIED = """\
with tf.device("CPU:1"):
    loss = f(x)
g = tape.gradient(loss, v)  #!
with tf.device("CPU:1"):
    h = tf.norm(g)
    k = 1
"""


def test_what_stands_in_that_scope_already_gets_no_second_one() -> None:
    """Bug: ``with tf.device("CPU:1"):`` and ``"/CPU:1"`` were not taken for one device."""
    back = hop("gradient-outside-scope", "cpu:1", "cpu:0", site="train.py:4")
    ran = op(4, "Mul", "cpu:0"), op(6, "Norm", "cpu:0")
    for scope in ("CPU:1", "/CPU:1", "/device:CPU:1"):
        text = TF + APPLIED.replace('CPU:1"):\n    h', f'{scope}"):\n    h')
        made = fixed("gradient-outside-scope", text, hops=(back,), ran=ran, forward_requested=["cpu:1"])
        line = "g = tape.gradient(loss, v)"
        assert made is not None and made.count("tf.device(") == 2
        assert f'with tf.device("CPU:1"):\n    loss = f(x)\n    {line}\n' in made


CALL = """\
for x in data:
    ids = tf.random.uniform([9])  #!
    loss = step(ids)
"""


def test_a_call_that_works_on_several_devices_goes_into_no_scope_for_one_argument() -> None:
    """Bug: the whole training step was put on the device of what looks up the ids."""
    used = hop("default-device", "cpu:0", "gpu:1", blames="producer", producer_site="train.py:3")
    call = op(3, "Uniform", "cpu:0"), op(4, "Identity2", "cpu:0")

    def made(*inside: Op) -> str | None:
        return fixed("default-device", TF + CALL, hops=(used,), ran=(*call, *inside))

    there = Op("gather", "Gather", "gpu:1", "gpu:1", "model.py:3", "step")
    other = Op("mean", "Mean", "", "cpu:0", "model.py:4", "step")
    assert made(there) is not None
    assert made(there, other) is None
    elsewhere = Op("mean", "Mean", "", "cpu:0", "model.py:4", "evaluate")
    assert made(there, elsewhere) is not None
    words = said("default-device", TF + CALL, hops=(used,), ran=(*call, there, other)) or ""
    assert words.startswith("Make it in the device scope of gpu:1")


GRADIENTS = (
    "import tensorflow as tf\n\n\ndef step(x):\n    with tf.GradientTape() as tape:\n"
    "        with tf.device('/GPU:1'):\n            loss = model(x)\n"
    "    grads = tape.gradient(loss, weights)  #!\n    optimizer.apply_gradients(zip(grads, weights))\n"
)


UPDATED = (op(8, "MatMul", "gpu:0"), op(9, "Mul", "gpu:0"), op(9, "AssignSubVariableOp", "gpu:1"))


def test_an_optimizer_that_reckons_on_the_default_device_goes_along() -> None:
    """Bug: only the gradients were moved, so that all of them came back for the optimizer's rule."""
    hops = (hop("gradient-outside-scope", "gpu:1", "gpu:0"),)
    sent = hop("colocation", "gpu:0", "gpu:1", site="train.py:9", bytes=4096)
    made = fixed(
        "gradient-outside-scope", GRADIENTS, hops=hops, others=(sent,), ran=UPDATED, forward_requested="gpu:1"
    )
    head, *lines = GRADIENTS.replace("  #!", "").partition("    grads")
    both = "".join(f"    {line}\n" for line in "".join(lines).splitlines())
    assert made == f"{head}    with tf.device('/GPU:1'):\n{both}"
