"""Values that a loop keeps in rows: the whole text that the fix makes, or why there is none."""

from __future__ import annotations

from typing import Any

import pytest

from app.diagnosis.causes.host_sync.line_advice import LOOKED_AT
from tests.unit.fixes.fix_cases import fixed, hop, said

TF = "import tensorflow as tf\n"
MX = "import mxnet as mx\n"
Case = tuple[str, str]


def row_fixed(kind: str, text: str, framework: str = "tensorflow", **fields: Any) -> str | None:
    pull = hop("host-sync", each=fields.pop("each", 1.0), **fields)
    return fixed("host-sync", text, framework=framework, hops=(pull,), taken_by=kind)


def row_said(text: str, framework: str, kind: str, **fields: Any) -> str:
    pull = hop("host-sync", each=1.0, **fields)
    return said("host-sync", text, framework=framework, hops=(pull,), taken_by=kind) or ""


ROWS: dict[str, Case] = {
    "a dictionary a step, its value rounded": (
        """\
rows = []
for step, x in enumerate(data):
    rows.append({"step": step, "loss": round(float(train(x)), 3)})  #!
save(rows)
""",
        """\
rows = []
for step, x in enumerate(data):
    rows.append({"step": step, "loss": train(x)})
for row, value in zip(rows, tf.stack([row["loss"] for row in rows]).numpy().tolist()):
    row["loss"] = round(value, 3)
save(rows)
""",
    ),
    "two loops, a row with a name, which is taken": (
        """\
def fit(epochs):
    rows = list()
    for epoch in range(epochs):
        for x in data:
            row = dict(epoch=epoch, loss=float(train(x)))  #!
            rows.append(row)
    return rows
""",
        """\
def fit(epochs):
    rows = list()
    for epoch in range(epochs):
        for x in data:
            row = dict(epoch=epoch, loss=train(x))
            rows.append(row)
    for row_2, value in zip(rows, tf.stack([row_2["loss"] for row_2 in rows]).numpy().tolist()):
        row_2["loss"] = value
    return rows
""",
    ),
    "new rows each epoch, as tuples": (
        """\
for epoch in range(9):
    rows = []
    for x in data:
        rows.append((epoch, float(train(x))))  #!
    save(rows)
""",
        """\
for epoch in range(9):
    rows = []
    for x in data:
        rows.append((epoch, train(x)))
    rows = [(row[0], value) for row, value in zip(rows, tf.stack([row[1] for row in rows]).numpy().tolist())]
    save(rows)
""",
    ),
}


@pytest.mark.parametrize(("before", "after"), ROWS.values(), ids=ROWS)
def test_rows_keep_the_tensors_until_the_loop_is_over(before: str, after: str) -> None:
    assert row_fixed("float", TF + before) == TF + after


def test_values_of_another_device_are_joined_there() -> None:
    text = TF + "rows = []\nfor x in data:\n    rows.append([0, float(train(x))])  #!\nsave(rows)\n"
    assert row_fixed("float", text, src="gpu:1") == TF + (
        "rows = []\nfor x in data:\n    rows.append([0, train(x)])\n"
        'with tf.device("/GPU:1"):\n    values = tf.stack([row[1] for row in rows]).numpy().tolist()\n'
        "for row, value in zip(rows, values):\n    row[1] = value\nsave(rows)\n"
    )


def test_mxnets_arrays_are_joined_in_its_way() -> None:
    text = 'rows = []\nfor x in data:\n    loss = f(x)\n    rows.append({"loss": loss.asscalar()})  #!\n'
    assert row_fixed("asscalar", MX + text, "mxnet", shape="1") == MX + (
        'rows = []\nfor x in data:\n    loss = f(x)\n    rows.append({"loss": loss})\n'
        'for row, value in zip(rows, mx.nd.stack(*[row["loss"] for row in rows])'
        '.reshape(-1).asnumpy().tolist()):\n    row["loss"] = value\n'
    )


BOTH = """\
rows = []
for x in data:
    rows.append({"loss": float(loss(x)), "rate": float(rate)})  #!
"""


def test_of_two_values_each_has_to_have_been_taken() -> None:
    """WHEN the run took one value a round THEN the other may be Python's own, which can't be stacked."""
    assert row_fixed("float", TF + BOTH, each=1.0) is None
    both = row_fixed("float", TF + BOTH, each=2.0) or ""
    assert both.count("tf.stack") == 2 and '{"loss": loss(x), "rate": rate}' in both


@pytest.mark.parametrize(
    "text",
    [
        # Read before the loop is over, by this code or by others that have the list or the row.
        'rows = []\nfor x in data:\n    rows.append({"a": float(f(x))})  #!\n    if last: save(rows)\n',
        'rows = []\nkeep(rows)\nfor x in data:\n    rows.append({"a": float(f(x))})  #!\n',
        'rows = []\nfor x in data:\n    r = {"a": float(f(x))}  #!\n    rows.append(r)\n    show(r)\n',
        'def g():\n    rows = []\n    for x in data:\n        rows.append({"a": float(f(x))})  #!\n'
        "        if x: return rows\n",
        'rows = []\ntry:\n    for x in data:\n        rows.append({"a": float(f(x))})  #!\n'
        "finally:\n    save(rows)\n",
        # Other rows may lack it, or have a number there.
        'rows = [{"a": 0.0}]\nfor x in data:\n    rows.append({"a": float(f(x))})  #!\n',
        'rows = []\nrows.append({})\nfor x in data:\n    rows.append({"a": float(f(x))})  #!\n',
        'rows = []\nfor x in data:\n    rows.append({**base, "a": float(f(x))})  #!\n',
        'rows = []\nfor x in data:\n    rows.append({"a": float(f(x)) / len(rows)})  #!\n',
    ],
)
def test_rows_that_are_seen_earlier_or_differ_are_left_as_they_are(text: str) -> None:
    assert row_fixed("float", TF + text) is None


def test_a_list_that_is_saved_where_the_loop_fails_keeps_numbers() -> None:
    """Bug: behind the loop the values would never have been taken for the handler."""
    text = (
        "losses = []\ntry:\n    for x in data:\n        losses.append(float(f(x)))  #!\n"
        "except KeyboardInterrupt:\n"
    )
    assert row_fixed("float", TF + text + "    save(losses)\n") is None
    assert row_fixed("float", TF + text + "    pass\n") is not None


def test_a_list_in_a_dictionary_that_is_only_told_is_only_looked_at() -> None:
    """Bug: of ``history["loss"].append(..)`` nothing was known."""
    text = (
        'def fit(net):\n    history = {"loss": []}\n    for epoch in range(3):\n        for x in data:\n'
        '            history["loss"].append(float(f(x)))  #!\n        print(history["loss"][-1])\n'
        "    return history\n"
    )
    assert row_said(TF + text, "tensorflow", "float") == LOOKED_AT
    by_step = "log = {}\nfor i, x in enumerate(data):\n    log[i] = float(f(x))  #!\nsave(log)\n"
    assert row_said(TF + by_step, "tensorflow", "float") == LOOKED_AT
    read = "log = {}\nfor i, x in enumerate(data):\n    log[i] = float(f(x))  #!\n    use(log[0])\n"
    assert "kept in log" in row_said(TF + read, "tensorflow", "float")
