"""What is said of libraries' functions that take values or wait by themselves."""

from __future__ import annotations

from typing import Any

from tests.unit.fixes.fix_cases import fixed, hop, said

MX = "import mxnet as mx\nfrom mxnet import nd\n"
CONTRIB = "mxnet/ndarray/contrib.py"
WRITE = "tensorflow/python/ops/summary_ops_v2.py:write"
ESTIMATOR = "mxnet/gluon/contrib/estimator/estimator.py:fit"


def of_mxnet(text: str, function: str, kind: str = "asscalar", **more: Any) -> str:
    pull = hop("host-sync", each=1.0)
    given: dict[str, Any] = {"framework": "mxnet", "hops": (pull,), "taken_by": kind, "inside": [function]}
    return said("host-sync", MX + text, **given | more) or ""


def test_a_monitor_is_given_a_larger_interval_wherever_it_is_made() -> None:
    toc = of_mxnet(
        "mon = mx.mon.Monitor(1)\nfor x in data:\n    mon.toc_print()  #!\n", "toc_print (mxnet/monitor.py)"
    )
    assert "larger interval" in toc
    waits: dict[str, Any] = {"hops": (), "taken_by": None, "kind": "wait_to_read", "takes": False}
    tic = of_mxnet(
        "def step(mon):\n    mon.tic()  #!\n",
        "tic (mxnet/monitor.py)",
        files={"watch.py": "import mxnet as mx\nM = mx.mon.Monitor(interval=1)\n"},
        **waits,
    )
    assert "larger interval" in tic and "Drop" not in tic


def test_loops_and_branches_called_eagerly_are_masked() -> None:
    loop = of_mxnet("out = nd.contrib.while_loop(go, turn, start, 5)  #!\n", f"while_loop ({CONTRIB})")
    assert "fixed number of turns" in loop and "nd.where" in loop
    branch = of_mxnet("loss = nd.contrib.cond(e > 1, f, g)  #!\n", f"cond ({CONTRIB})")
    assert "nd.where(condition, then, else)" in branch


RECORD_IF = """\
import tensorflow as tf
with tf.summary.record_if(due):
    for i in range(999):
        tf.summary.write("loss", loss, step=i)  #!
"""
BARE = "import tensorflow as tf\nfor i in range(999):\n    tf.summary.write('loss', loss, step=i)  #!\n"


def asked(text: str, **fields: Any) -> tuple[str | None, str]:
    pull = hop("host-sync", "gpu:0", via=WRITE, each=1.0, **fields)
    more: dict[str, Any] = {"hops": (pull,), "taken_by": "numpy", "inside": ["write"]}
    return fixed("host-sync", text, **more), said("host-sync", text, **more) or ""


def test_whether_a_summary_is_recorded_is_not_asked_by_a_second_count() -> None:
    change, words = asked(RECORD_IF, dtype="bool", bytes=1)
    assert change is None
    assert "a callable that decides by a number of Python's" in words
    change, words = asked(BARE, dtype="bool", bytes=1)
    assert change is None and 'tf.device("CPU:0")' in words
    # A value that the summary itself wants is another thing.
    assert asked(BARE)[0] is not None
    assert asked(RECORD_IF)[0] is None


FIT = "mxnet/module/base_module.py:fit"


def test_it_is_said_which_part_of_a_library_s_loop_takes_values() -> None:
    def fit(text: str, via: str) -> str:
        pull = hop("host-sync", via=via, each=1.0)
        return said("host-sync", MX + text, framework="mxnet", hops=(pull,), taken_by="asnumpy") or ""

    module = fit("module.fit(  #!\n    data,\n    eval_metric='f1',\n)\n", FIT)
    assert module.startswith("Its metric, eval_metric, takes the outputs") and "update()" in module
    estimator = fit("job.estimator.fit(data, epochs=2)  #!\n", ESTIMATOR)
    assert "the estimator's train_metrics" in estimator and "MetricHandler" in estimator
    assert "metric" not in fit("model.fit(data)  #!\n", "mxnet/model.py:fit")


CLIP = "import mxnet as mx\nfrom mxnet import gluon\nfor x in data:\n    {}  #!\n    trainer.step(1)\n"
CHECKED = hop("host-sync", each=2.0, via="mxnet/gluon/utils.py:clip_global_norm")


def clipped(line: str, *hops: Any) -> str:
    known: dict[str, Any] = {"framework": "mxnet", "hops": hops or (CHECKED,), "taken_by": "asscalar"}
    assert fixed("host-sync", CLIP.format(line), **known) is None
    return said("host-sync", CLIP.format(line), **known) or ""


def test_of_clipping_that_checks_the_norm_the_option_is_told() -> None:
    """Bug: "Take the value every so many steps" was said, where the code takes none."""
    for line in ("gluon.utils.clip_global_norm(grads, 1)", "norm = gluon.utils.clip_global_norm(grads, 1)"):
        words = clipped(line)
        assert "check_isfinite=False" in words and "NaN is no longer warned of" in words
    unchecked = "gluon.utils.clip_global_norm(grads, 1, check_isfinite=False)"
    for line in (unchecked, "self.clip_global_norm(grads, 1)"):
        assert "check_isfinite" not in clipped(line)
    other = hop("host-sync", each=1.0)
    assert "check_isfinite" not in clipped("gluon.utils.clip_global_norm(grads, 1)", CHECKED, other)
