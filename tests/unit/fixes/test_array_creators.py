"""Arrays that a function makes without a context, which its caller hands it."""

from __future__ import annotations

from typing import Any

import pytest

from app.diagnosis.registry import advice
from app.fixes.code.edits import applied
from tests.unit.fixes.fix_cases import op, proposed, said

MODEL = """\
from mxnet import gluon

class WordModel(gluon.Block):
    def __init__(self, hidden):
        super().__init__()
        self.lstm = gluon.rnn.LSTM(hidden)

    def begin_state(self, **kwargs):
        return self.lstm.begin_state(**kwargs)

    def forward(self, x, state):
        return self.lstm(x, state)  #!
"""
MAIN = """\
import mxnet as mx
from train import WordModel
CARD = mx.gpu(1)
net = WordModel(24)
for epoch in range(3):
    state = net.begin_state(batch_size=8)
    for x in data:
        out, state = net(x, state)
"""
TOLD: dict[str, Any] = {
    "framework": "mxnet",
    "ops": ["RNN"],
    "ran_on": ["gpu:1"],
    "inputs_also_on": ["cpu:0"],
    "made_on_default_at": ["train.py:9"],
}


def handed(model: str = MODEL, main: str = MAIN, **more: Any) -> str | None:
    """The caller's file with the fix; None for no fix."""
    _, found = proposed("mixed-context", model, files={"main.py": main}, **TOLD | more)
    assert found is None or {edit.file for edit in found.edits} == {"main.py"}
    return applied(main, found.edits) if found is not None else None


def test_states_get_their_context_from_the_caller_in_another_module() -> None:
    assert handed() == MAIN.replace("batch_size=8", "batch_size=8, ctx=CARD")


def test_a_context_that_is_an_option_of_the_function_is_handed_to_it() -> None:
    model = MODEL.replace("(self, **kwargs)", "(self, where=None)").replace("(**kwargs)", "(ctx=where)")
    assert handed(model, MAIN.replace("batch_size=8", "")) == MAIN.replace("batch_size=8", "where=CARD")


@pytest.mark.parametrize(
    ("model", "main", "more"),
    [
        (MODEL, MAIN + "other = net.begin_state(batch_size=1)\n", {}),
        (MODEL, MAIN.replace("batch_size=8", "**options"), {}),
        (MODEL, MAIN.replace("import mxnet as mx\n", "").replace("mx.gpu(1)", "card()"), {}),
        (MODEL, MAIN.replace("state = net.begin_state(batch_size=8)", "run(net.begin_state())"), {}),
        (MODEL.replace("(**kwargs)", "(batch_size=8)"), MAIN, {}),
        (MODEL, MAIN, {"ran_on": ["gpu:1", "gpu:0"]}),
        (MODEL, MAIN, {"ran": (op(8, "elemwise_add", "cpu:0", file="main.py"),)}),
    ],
)
def test_no_context_is_handed_where_it_is_not_sure_which(model: str, main: str, more: dict[str, Any]) -> None:
    assert handed(model, main, **more) is None


def test_it_is_said_where_the_context_belongs() -> None:
    main = MAIN + "other = net.begin_state(batch_size=1)\n"
    assert said("mixed-context", MODEL, files={"main.py": main}, **TOLD) == (
        "Make it on gpu:1 from the start: hand the context in to train.py:9, for ctx= of"
        " self.lstm.begin_state(..); as_in_context before the op would copy it each time."
    )
    near = "from mxnet import nd\n\ndef scores(x):\n    mask = nd.ones(x.shape)\n    return x * mask  #!\n"
    assert said("mixed-context", near, **TOLD | {"made_on_default_at": ["train.py:4"]}) == (
        "Make it on gpu:1 from the start, by nd.ones(.., ctx=x.context) at train.py:4, x being what it meets"
        " at train.py:5; as_in_context before the op would copy it each time."
    )
    both = "from mxnet import nd\n\ndef targets(n):\n    return nd.ones((n, 1)), nd.zeros((n, 1))\n"
    use = "from train import targets\nright, wrong = targets(8)\nloss(x, right)  #!\n"
    told = TOLD | {"made_on_default_at": ["nets.py:4"]}
    assert said("mixed-context", use, files={"nets.py": both}, **told) == (
        "Make it on gpu:1 from the start: hand the context in to nets.py:4, for ctx= of nd.ones(..) and"
        " nd.zeros(..); as_in_context before the op would copy it each time."
    )
    unknown = TOLD | {"made_on_default_at": ["gone.py:9"]}
    assert said("mixed-context", MODEL, **unknown) == advice("mixed-context", {})


def test_of_rows_that_are_brought_one_by_one_it_says_that_the_whole_can_be() -> None:
    loop = "import mxnet as mx\nfor p, l in {}:\n    print(mx.nd.abs(p - l))  #!\n"
    told: dict[str, Any] = {"ops": ["broadcast_sub"], "ran_on": "gpu:0", "inputs_also_on": ["cpu:0"]}
    whole = " Where label is one array, bringing that there before the loop copies once."
    for items, more in ("zip(pred, label)", whole), ("batches()", ""):
        found = proposed("mixed-context", loop.format(items), framework="mxnet", **told)[1]
        assert found is not None
        assert found.words.partition("elsewhere.")[2] == more
