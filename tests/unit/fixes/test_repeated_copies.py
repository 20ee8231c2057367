"""What MXNet code sends or takes in each step, and how it does without."""

from __future__ import annotations

import pytest

from app.facts.transfers.hops import Hop
from tests.unit.fixes.fix_cases import fixed, hop, said

MX = "import mxnet as mx\nfrom mxnet import gluon, nd\nCARD = mx.gpu(1)\n"
FIT = "mxnet/module/base_module.py:fit"
ESTIMATOR = "mxnet/gluon/contrib/estimator/estimator.py:fit"


def copied(line: int, made_by: str = "normal") -> Hop:
    """A copy of what the line makes on the host, in each step."""
    site = f"train.py:{line}"
    return hop("explicit", "cpu:0", "gpu:1", site=site, producer_site=site, producer_op=made_by)


def made(text: str, made_by: str = "normal") -> str | None:
    """The lines below the imports with the fix."""
    line = next(number for number, one in enumerate((MX + text).splitlines(), 1) if one.endswith("#!"))
    row = copied(line, made_by)
    found = fixed("explicit", MX + text, framework="mxnet", hops=(row,), severity="info")
    return found.removeprefix(MX) if found is not None else None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "y = nd.random.normal(shape=m.shape).as_in_context(m.context)",
            "y = nd.random.normal(shape=m.shape, ctx=m.context)",
        ),
        (
            "f(nd.random.uniform(-1, 1, shape=(8, 2)).as_in_context(CARD))",
            "f(nd.random.uniform(-1, 1, shape=(8, 2), ctx=CARD))",
        ),
        (
            "y = nd.random.randint(0, 9, shape=8).astype('float32').as_in_context(CARD)",
            "y = nd.random.randint(0, 9, shape=8, ctx=CARD).astype('float32')",
        ),
        ("mask = nd.ones((8, n)).as_in_context(mx.gpu(1))", "mask = nd.ones((8, n), ctx=mx.gpu(1))"),
        ("y = nd.array(rows).as_in_context(CARD)", None),
        ("y = nd.random.normal(mean, std).as_in_context(CARD)", None),
        ("y = nd.random.normal(shape=8, ctx=mx.cpu()).as_in_context(CARD)", None),
        ("y = net(nd.ones(8)).as_in_context(CARD)", None),
        ("y = nd.ones(8).as_in_context(pick())", None),
        ("with mx.cpu():\n        y = nd.ones(8).as_in_context(CARD)", None),
        ("x, y = nd.ones(8).as_in_context(CARD), nd.ones(8).as_in_context(CARD)", None),
    ],
)
def test_what_is_made_of_numbers_alone_is_made_where_it_is_used(before: str, after: str | None) -> None:
    text = f"for m in data:\n    {before}  #!\n"
    assert made(text) == (None if after is None else f"for m in data:\n    {after}\n")


def test_what_is_made_elsewhere_is_not_made_anew() -> None:
    row = hop("explicit", "cpu:0", "gpu:1", site="train.py:5", producer_site="job.py:1")
    text = f"{MX}for m in data:\n    y = nd.ones(8).as_in_context(CARD)  #!\n"
    assert fixed("explicit", text, framework="mxnet", hops=(row,), severity="info") is None


WORDS = """\
class Words(gluon.Block):
    def __init__(self, size, width):
        super().__init__()
        self.table = gluon.nn.Embedding(size, width)

    def forward(self, tokens):
        return self.table(tokens).as_in_context(CARD)  #!
"""


def test_a_layer_whose_parameters_are_on_the_host_can_be_moved() -> None:
    def told(text: str, made_by: str = "Embedding") -> str | None:
        return said("explicit", MX + text, framework="mxnet", hops=(copied(10, made_by),))

    words = told(WORDS) or ""
    assert words.startswith("The parameters of self.table live on cpu:0.")
    assert "self.table.collect_params().reset_ctx(CARD)" in words
    assert told(WORDS.replace("gluon.nn.Embedding(size, width)", "lookup")) is None
    assert told(WORDS, "dot") is None


NORMALISE = """\
class Normalise(gluon.Block):
    def __init__(self, config):
        super().__init__()
        self.config = config

    def forward(self, x):
        mean = nd.array(self.config.mean, ctx=x.context)  #!
        return x - mean
"""


def uploaded(text: str, **files: str) -> str:
    row = hop("host-upload", "cpu:0", "gpu:1", kind="upload")
    named = {f"{name}.py": other for name, other in files.items()}
    return said("host-upload", MX + text, framework="mxnet", hops=(row,), files=named) or ""


def test_values_that_never_change_are_a_constant_of_the_block() -> None:
    words = uploaded(NORMALISE)
    assert words.startswith("Nothing in the files changes self.config.mean once it is made")
    assert 'self.mean = self.params.get_constant("mean", ..)' in words
    table = "WEIGHTS = [1.0, 2.0]\ndef loss(x):\n    return x * nd.array(WEIGHTS, ctx=x.context)  #!\n"
    assert "make the array once, before the loop" in uploaded(table)


def test_no_constant_is_proposed_to_a_block_that_hands_its_own_to_hybrid_forward() -> None:
    """Bug: a Dense with a forward of its own raised, for its hybrid_forward takes no such argument."""
    words = uploaded(NORMALISE.replace("gluon.Block", "gluon.nn.Dense"))
    assert "make the array once, before the loop" in words


@pytest.mark.parametrize(
    ("text", "other"),
    [
        (NORMALISE, "def warm(config):\n    config.mean = config.mean * 2\n"),
        (NORMALISE, "net.config.mean[0] = 1\n"),
        (NORMALISE + "    def set(self, config):\n        self.config = config\n", ""),
        ("def loss(x, rows):\n    return x * nd.array(rows, ctx=CARD)  #!\n", ""),
        ("rows = [1]\ndef loss(x):\n    rows.append(x)\n    return nd.array(rows, ctx=CARD)  #!\n", ""),
        ("for rows in data:\n    def loss(x):\n        return nd.array(rows, ctx=CARD)  #!\n", ""),
    ],
)
def test_values_that_may_change_are_not_called_constant(text: str, other: str) -> None:
    assert "Nothing in the files changes" not in uploaded(text, other=other)


def test_it_is_said_which_part_of_a_library_s_loop_takes_values() -> None:
    def fit(text: str, via: str) -> str:
        pull = hop("host-sync", via=via, each=1.0)
        return said("host-sync", MX + text, framework="mxnet", hops=(pull,), taken_by="asnumpy") or ""

    module = fit("module.fit(  #!\n    data,\n    eval_metric='f1',\n)\n", FIT)
    assert module.startswith("Its metric (eval_metric='f1') takes the outputs") and "update()" in module
    assert "'acc' by default" in fit("module.fit(data)  #!\n", FIT)
    estimator = fit("job.estimator.fit(data, epochs=2)  #!\n", ESTIMATOR)
    assert "given job.estimator.train_metrics" in estimator and "MetricHandler" in estimator
    assert "larger interval" in fit("module.fit(data, monitor=m)  #!\n", FIT)
    assert "monitor" not in fit("module.fit(data, monitor=None)  #!\n", FIT)
    assert "metric" not in fit("model.fit(data)  #!\n", "mxnet/model.py:fit")


HANDLER = """\
class Watch:
    def batch_end(self, loss):
        mean = nd.add_n(*loss)
        {above}
        if mean < 0.01:  #!
            self.small += 1
"""


@pytest.mark.parametrize(
    ("above", "after"),
    [
        ("self.seen.append(mean.asscalar())", "value = mean.asscalar()\n        self.seen.append(value)"),
        ("now = mean.asscalar()", "now = mean.asscalar()"),
        ("print('loss', float(mean))", "value = float(mean)\n        print('loss', value)"),
        ("self.trainer.step(mean.asscalar())", None),
        ("self.seen.append(mean.asscalar() if log else 0)", None),
        ("self.seen.append(other.asscalar())", None),
    ],
)
def test_a_test_takes_the_number_that_was_taken_above(above: str, after: str | None) -> None:
    text = MX + HANDLER.replace("{above}", above)
    pull = hop("host-sync", each=1.0)
    found = fixed("host-sync", text, framework="mxnet", hops=(pull,), taken_by="bool")
    if after is None:
        assert found is None
        return
    name = "now" if above.startswith("now") else "value"
    plain = text.replace("  #!", "").replace(above, after)
    assert found == plain.replace("if mean < 0.01", f"if {name} < 0.01")
