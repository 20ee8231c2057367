"""Syncs in loops: each form of statement with the whole text that its fix makes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.fixes.fix_cases import fixed, hop, said

TF = "import tensorflow as tf\n"
MX = "import mxnet as mx\n"
Case = tuple[str, str | None]


def sync_fixed(kind: str, text: str, framework: str = "tensorflow", **fields: Any) -> str | None:
    fields.setdefault("src", "gpu:0")
    pull = hop("host-sync", **fields)
    return fixed("host-sync", text, framework=framework, hops=(pull,), taken_by=kind)


KEPT: dict[str, Case] = {
    "appended": (
        """\
losses = []
for x in data:
    loss = step(x)
    losses.append(float(loss))  #!
print(losses)
""",
        """\
losses = []
for x in data:
    loss = step(x)
    losses.append(loss)
losses = tf.stack(losses).numpy().tolist()
print(losses)
""",
    ),
    "nested loops, list outside of both": (
        """\
def train(epochs):
    losses, steps = [], 0
    for epoch in range(epochs):
        for x in data:
            losses.append(  #!
                float(
                    step(x)
                )
            )
    return losses
""",
        """\
def train(epochs):
    losses, steps = [], 0
    for epoch in range(epochs):
        for x in data:
            losses.append(
                step(x)
            )
    losses = tf.stack(losses).numpy().tolist()
    return losses
""",
    ),
    "a new list each epoch": (
        """\
for epoch in range(9):
    losses = []
    for x in data:
        losses.append(float(step(x)))  #!
    print(sum(losses))
""",
        """\
for epoch in range(9):
    losses = []
    for x in data:
        losses.append(step(x))
    losses = tf.stack(losses).numpy().tolist()
    print(sum(losses))
""",
    ),
    "a loop on one line, tabs": (
        "def f(out):\n\tlosses = []\n\tfor x in data: losses.append(float(step(x)))  #!\n\treturn losses\n",
        "def f(out):\n\tlosses = []\n\tfor x in data: losses.append(step(x))\n"
        "\tlosses = tf.stack(losses).numpy().tolist()\n\treturn losses\n",
    ),
    "the last line, without its end, and Windows's ends": (
        "losses = []\r\nwhile more():\r\n    losses.append(float(step()))  #!",
        "losses = []\r\nwhile more():\r\n    losses.append(step())\r\n"
        "losses = tf.stack(losses).numpy().tolist()",
    ),
    "a list that another loop puts numbers into": (
        """\
losses = []
for x in few:
    losses.append(warm_up(x))
for x in data:
    losses.append(float(step(x)))  #!
""",
        None,
    ),
    "a list of an enclosing function": (
        """\
def outer():
    losses = []
    def inner():
        for x in data:
            losses.append(float(step(x)))  #!
    inner()
    return len(data)
""",
        None,
    ),
    "added up": (
        """\
total = 0.0
for x in data:
    total += float(step(x))  #!
print(total / n)
""",
        """\
total = 0.0
for x in data:
    total += step(x)
total = float(total)
print(total / n)
""",
    ),
    "the list is read in the loop": (
        """\
losses = []
for x in data:
    losses.append(float(step(x)))  #!
    if losses[-1] < 0.1:
        stop()
""",
        None,
    ),
    "the list is read by another function": (
        """\
losses = []
def report():
    print(losses[-1])
for x in data:
    losses.append(float(step(x)))  #!
    report()
""",
        None,
    ),
    "somebody else's list": (
        "def f(losses):\n    for x in data:\n        losses.append(float(step(x)))  #!\n",
        None,
    ),
    "others see the key before the loop is over": (
        "def f(seen):\n    for x in data:\n        seen['loss'].append(float(step(x)))  #!\n"
        "        if g(): return 1\n",
        None,
    ),
    "a list with a limit": (
        "losses = deque(maxlen=9)\nfor x in data:\n    losses.append(float(step(x)))  #!\n",
        None,
    ),
    "no loop here": ("losses = []\nlosses.append(float(step(x)))  #!\n", None),
    "a loop without end": ("losses = []\nwhile True:\n    losses.append(float(step()))  #!\n", None),
    "the sum is used each time": (
        "total = 0.0\nfor x in data:\n    total += float(step(x))  #!\n    send(total)\n",
        None,
    ),
    "a sum of something else": ("total = start()\nfor x in data:\n    total += float(step(x))  #!\n", None),
    "not linear": ("total = 0.0\nfor x in data:\n    total += math.exp(float(step(x)))  #!\n", None),
    "into an array of numpy": ("for i, x in enumerate(data):\n    log[i] = float(step(x))  #!\n", None),
    "in a lambda": ("run(lambda loss: seen.append(float(loss)))  #!\n", None),
}


@pytest.mark.parametrize("name", KEPT)
def test_values_that_a_loop_keeps(name: str) -> None:
    before, after = KEPT[name]
    assert sync_fixed("float", TF + before) == (None if after is None else TF + after)


TOLD: dict[str, Case] = {
    "own index": (
        """\
for step in range(1000):
    loss = train()
    print(step, float(loss))  #!
""",
        """\
for step in range(1000):
    loss = train()
    if step % 100 == 0:
        print(step, float(loss))
""",
    ),
    "few rounds": (
        "for epoch in range(20):\n    print(float(loss))  #!\n",
        "for epoch in range(20):\n    if epoch % 10 == 0:\n        print(float(loss))\n",
    ),
    "no index, two targets, several lines": (
        """\
for x, y in zip(xs, ys):
    loss = train(x, y)
    print(
        "loss",  #!
        f"{float(loss):.3f}",
    )
""",
        """\
for step, (x, y) in enumerate(zip(xs, ys)):
    loss = train(x, y)
    if step % 100 == 0:
        print(
            "loss",
            f"{float(loss):.3f}",
        )
""",
    ),
    "the name is taken": (
        "for x in data:\n    loss = step(x)\n    print(float(loss))  #!\n",
        "for index, x in enumerate(data):\n    loss = step(x)\n"
        "    if index % 100 == 0:\n        print(float(loss))\n",
    ),
    "a counter of a while": (
        "while n < limit:\n    n += 1\n    print(float(loss))  #!\n",
        "while n < limit:\n    n += 1\n    if n % 100 == 0:\n        print(float(loss))\n",
    ),
    "training inside of the print": (
        "for i in range(n):\n    print(i, float(step(x)))  #!\n",
        None,
    ),
    "on the line of its loop": (
        "for i in range(n): step(x); print(float(loss))  #!\n",
        None,
    ),
    "a bar, in a class, with a text over lines": (
        '''\
class Trainer:
  def fit(self):
    for i, x in tqdm(enumerate(data)):
      bar.set_postfix(loss=float(self.loss), text="""a
  b""")  #!
''',
        '''\
class Trainer:
  def fit(self):
    for i, x in tqdm(enumerate(data)):
      if i % 100 == 0:
        bar.set_postfix(loss=float(self.loss), text="""a
  b""")
''',
    ),
    "a text over lines": (
        '''\
for i, x in enumerate(data):
  print("""loss
  is""", float(loss))  #!
''',
        '''\
for i, x in enumerate(data):
  if i % 100 == 0:
    print("""loss
  is""", float(loss))
''',
    ),
    "the tensor itself": (
        "async def run():\n    for i in range(n):\n        print(loss)  #!\n",
        "async def run():\n    for i in range(n):\n        if i % 100 == 0:\n            print(loss)\n",
    ),
    "an index that nobody used": (
        "for _ in range(n):\n    print(float(loss))  #!\n",
        "for step in range(n):\n    if step % 100 == 0:\n        print(float(loss))\n",
    ),
    "told now and then already": (
        "for i in range(n):\n    if i % 5 == 0:\n        print(float(loss))  #!\n",
        None,
    ),
    "more than telling": ("for i in range(n):\n    print(next(data), float(loss))  #!\n", None),
    "nothing to count by": ("while more():\n    print(float(loss))  #!\n", None),
    "an asynchronous loop": (
        "async def run():\n    async for x in data:\n        print(float(loss))  #!\n",
        None,
    ),
    "not told but used": ("for i in range(n):\n    adjust(float(loss))  #!\n", None),
    "an index that is changed": (
        "for i in range(n):\n    print(float(loss))  #!\n    i += 2\n",
        "for step, i in enumerate(range(n)):\n"
        "    if step % 100 == 0:\n        print(float(loss))\n    i += 2\n",
    ),
}


@pytest.mark.parametrize("name", TOLD)
def test_values_that_are_told_each_time(name: str) -> None:
    before, after = TOLD[name]
    assert sync_fixed("float", before) == after


OTHER_FORMS: dict[str, Case] = {
    "what ends the program": (
        "for i in range(n):\n    if tf.math.is_nan(loss):  #!\n        raise ValueError(loss)\n",
        None,
    ),
    "what ends the loop": ("for i in range(n):\n    if float(loss) > 9: break  #!\n", None),
    "what ends the round": ("for i in range(n):\n    if float(loss) > 9: continue  #!\n    step()\n", None),
    "what ends the function": ("def f():\n    for i in range(n):\n        if loss > 9: return  #!\n", None),
    "an assertion": ("for i in range(n):\n    assert float(loss) < 9, 'diverged'  #!\n", None),
    "a choice that is needed each time": (
        "for i in range(n):\n    if float(loss) < best:  #!\n        best = 1\n",
        None,
    ),
}


@pytest.mark.parametrize("name", OTHER_FORMS)
def test_other_forms(name: str) -> None:
    before, after = OTHER_FORMS[name]
    assert sync_fixed("float", TF + before) == (None if after is None else TF + after)


ARRAYS: dict[str, Case] = {
    "asscalar kept": (
        "losses = []\nfor x in data:\n    loss = step(x)\n    losses.append(loss.mean().asscalar())  #!\n",
        "losses = []\nfor x in data:\n    loss = step(x)\n    losses.append(loss.mean().copy())\n"
        "losses = mx.nd.stack(*losses).reshape(-1).asnumpy().tolist()\n",
    ),
    "asnumpy kept": (
        "out = []\nfor x in data:\n    out.append(net(x).asnumpy())  #!\n",
        "out = []\nfor x in data:\n    out.append(net(x).copy())\nout = list(mx.nd.stack(*out).asnumpy())\n",
    ),
    "what an executor writes again": (
        "out = []\nfor x in data:\n    y = module.get_outputs()[0]\n    out.append(y.asnumpy())  #!\n",
        "out = []\nfor x in data:\n    y = module.get_outputs()[0]\n    out.append(y.copy())\n"
        "out = list(mx.nd.stack(*out).asnumpy())\n",
    ),
    "a metric": ("for x, y in data:\n    metric.update([y], [net(x)])  #!\n", None),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_mxnet(name: str) -> None:
    before, after = ARRAYS[name]
    found = sync_fixed("asscalar", MX + before, "mxnet", shape="1")
    assert found == (None if after is None else MX + after)


def test_arrays_of_mxnets_numpy_are_stacked_there() -> None:
    before = "from mxnet import np, npx\nout = []\nfor x in data:\n    out.append(step(x).item())  #!\n"
    after = (
        "from mxnet import np, npx\nout = []\nfor x in data:\n    out.append(step(x).copy())\n"
        "out = np.stack(out).reshape(-1).asnumpy().tolist()\n"
    )
    assert sync_fixed("item", before, "mxnet") == after


def test_tensors_of_several_shapes_are_not_stacked() -> None:
    pulls = hop("host-sync", shape="32x10"), hop("host-sync", shape="7x10")
    text = f"{TF}out = []\nfor x in data:\n    out.append(model(x).numpy())  #!\n"
    assert fixed("host-sync", text, hops=pulls, taken_by="numpy") is None
    assert fixed("host-sync", text, hops=pulls[:1], taken_by="numpy") is not None


def test_a_variable_is_kept_as_the_value_that_it_has() -> None:
    text = f"{TF}out = []\nfor x in data:\n    step(x)\n    out.append(last.numpy())  #!\n"
    found = sync_fixed("numpy", text, producer_op="ReadVariableOp")
    assert found is not None and "out.append(tf.convert_to_tensor(last))" in found
    found = sync_fixed("numpy", text.replace("out = []", "out, last = [], tf.Variable(1.0)"))
    assert found is not None and "out.append(tf.convert_to_tensor(last))" in found
    found = sync_fixed("numpy", text.replace("out = []", "out = []\nlast = 1"))
    assert found is not None and "out.append(last)" in found


def test_a_variable_whose_rows_are_assigned_is_not_kept() -> None:
    text = f"{TF}out = []\nfor x in data:\n    table.scatter_update(x)\n    out.append(table.numpy())  #!\n"
    assert sync_fixed("numpy", text, producer_op="ReadVariableOp") is None


def test_what_is_kept_off_the_default_device_is_joined_there() -> None:
    before = "a, total = [], 0.0\nfor x in data:\n    a.append(float(x))  #!\n    total += float(x)\n"
    assert sync_fixed("float", TF + before, src="gpu:1") == TF + (
        "a, total = [], 0.0\nfor x in data:\n    a.append(x)\n    total += float(x)\n"
        'with tf.device("/GPU:1"):\n    a = tf.stack(a).numpy().tolist()\n'
    )
    moved = before.replace("  #!", "").replace("total += float(x)", "total += float(x)  #!")
    assert sync_fixed("float", TF + moved, src="gpu:1") == TF + (
        "a, total = [], 0.0\nfor x in data:\n    a.append(float(x))\n"
        '    with tf.device("/GPU:1"):\n        total += x\ntotal = float(total)\n'
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("for x in data:\n    y = f(x)\n    y.wait_to_read()  #!\n", "for x in data:\n    y = f(x)\n"),
        ("for x in data:\n    f(x); mx.nd.waitall()  #!\n", None),
        ("for x in data:\n    f(x)\n    if debug: mx.nd.waitall()  #!\n", "for x in data:\n    f(x)\n"),
        (
            "for x in data:\n    f(x)\n    if debug():\n        mx.nd.waitall()  #!\n",
            "for x in data:\n    f(x)\n    if debug():\n        pass\n",
        ),
        ("def sync(x):\n    x.wait_to_read()  #!\n", "def sync(x):\n    pass\n"),
        ("for x in data:\n    y = wait(x)  #!\n", None),
    ],
)
def test_a_wait_that_takes_nothing_is_dropped(before: str, after: str | None) -> None:
    found = fixed("host-sync", MX + before, framework="mxnet", kind="waitall")
    assert found == (None if after is None else MX + after)


def test_nothing_is_changed_for_a_value_that_is_taken_once() -> None:
    text = f"{TF}losses = []\nfor x in data:\n    losses.append(float(step(x)))  #!\n"
    pull = (hop("host-sync"),)
    assert fixed("host-sync", text, hops=pull, taken_by="float", severity="info", recurs=False) is None
    assert fixed("host-sync", text, hops=pull, taken_by="float", severity="info", recurs=True) is not None


def test_a_loop_within_a_step_is_not_what_is_told_in_some_rounds_only() -> None:
    """Bug: of a loop over variables every hundredth was told: the first one only, and in each step still."""
    inner = "    for n, g in enumerate(grads):\n        print(n, g.numpy())"
    text = f"{TF}for step in range(900):\n    grads = f()\n{inner}  #!\n"
    assert sync_fixed("numpy", text, each=4.0) == (
        f"{TF}for step in range(900):\n    grads = f()\n    for n, g in enumerate(grads):\n"
        "        if step % 100 == 0:\n            print(n, g.numpy())\n"
    )
    alone = f"{TF}def tell(grads):\n{inner}  #!\n"
    assert sync_fixed("numpy", alone, each=4.0) is None
    assert sync_fixed("numpy", alone, each=1.0) is not None


def test_a_short_loop_is_told_of_more_often_also_where_its_text_does_not_say_how_short() -> None:
    """Bug: of twelve rounds, ``range(n)`` in the text, every hundredth was told: the first one only."""
    before = f"{TF}for i in range(n):\n    loss = step()\n    print(float(loss))  #!\n"
    after = (
        f"{TF}for i in range(n):\n    loss = step()\n    if i % {{every}} == 0:\n        print(float(loss))\n"
    )
    assert sync_fixed("float", before, count=12) == after.format(every=10)
    assert sync_fixed("float", before, count=1000) == after.format(every=100)


@pytest.mark.parametrize(
    "head",
    [
        "for i in range(8):",
        "for x in (a, b, c):",
    ],
)
def test_no_condition_is_made_that_holds_in_the_first_round_of_a_loop_only(head: str) -> None:
    """Bug: ``index % 10 == 0`` in a loop of 8 rounds."""
    text = f"{TF}{head}\n    print(float(loss))  #!\n"
    assert sync_fixed("float", text) is None
    assert sync_fixed("float", text.replace(head, "for i in range(more):")) is not None
    assert sync_fixed("float", text.replace(head, "for i in range(more):"), count=8) is None


@pytest.mark.parametrize(
    "test",
    ["float(loss) > 0.1", "n < 9 and tf.reduce_max(loss) > tol", "len(todo) > 0 or loss > eps", "left > 0"],
)
def test_no_loop_goes_on_longer_by_a_change_of_the_code(test: str) -> None:
    """Bug: a loop was made to ask every tenth round, which a solver that divides by the rest cannot stand."""
    text = f"import tensorflow as tf\nn, loss = 0, step()\nwhile {test}:  #!\n    loss = step()\n    n += 1\n"
    assert fixed("host-sync", text, hops=(hop("host-sync"),), taken_by="bool") is None
    assert "further rounds do no harm" in (said("host-sync", text, taken_by="bool") or "")
