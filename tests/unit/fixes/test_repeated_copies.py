"""What MXNet code sends or takes in each step, and how it does without."""

from __future__ import annotations

from app.facts.transfers.hops import Hop
from tests.unit.fixes.fix_cases import hop, said

MX = "import mxnet as mx\nfrom mxnet import gluon, nd\nCARD = mx.gpu(1)\n"
FIT = "mxnet/module/base_module.py:fit"
ESTIMATOR = "mxnet/gluon/contrib/estimator/estimator.py:fit"


def copied(line: int, made_by: str = "normal") -> Hop:
    """A copy of what the line makes on the host, in each step."""
    site = f"train.py:{line}"
    return hop("explicit", "cpu:0", "gpu:1", site=site, producer_site=site, producer_op=made_by)


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
    assert words.startswith("The parameters of Embedding live on cpu:0.")
    assert "into the memory of gpu:1" in words
    assert told(WORDS, "dot") is None


def test_it_is_said_which_part_of_a_library_s_loop_takes_values() -> None:
    def fit(text: str, via: str) -> str:
        pull = hop("host-sync", via=via, each=1.0)
        return said("host-sync", MX + text, framework="mxnet", hops=(pull,), taken_by="asnumpy") or ""

    module = fit("module.fit(  #!\n    data,\n    eval_metric='f1',\n)\n", FIT)
    assert module.startswith("Its metric, eval_metric, takes the outputs") and "update()" in module
    estimator = fit("job.estimator.fit(data, epochs=2)  #!\n", ESTIMATOR)
    assert "the estimator's train_metrics" in estimator and "MetricHandler" in estimator
    assert "metric" not in fit("model.fit(data)  #!\n", "mxnet/model.py:fit")
