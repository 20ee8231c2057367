"""What is said at a line goes by what its source does with the value, and claims no more than that shows."""

from __future__ import annotations

from typing import Any

import pytest

from app.diagnosis.causes.default_device.cause import PUT_BESIDE_INPUTS
from app.diagnosis.causes.host_sync.line_advice import EITHER, LOOKED_AT
from app.facts.transfers.hops import Hop
from tests.unit.fixes.fix_cases import fixed, hop, op, said

TF = "import tensorflow as tf\n"
MX = "import mxnet as mx\nfrom mxnet import nd\n"


def sync_said(text: str, framework: str = "tensorflow", kind: str = "float", **more: Any) -> str:
    head = TF if framework == "tensorflow" else MX
    pull = hop("host-sync", each=1.0)
    return said("host-sync", head + text, framework=framework, hops=(pull,), taken_by=kind, **more) or ""


@pytest.mark.parametrize(
    "text",
    [
        "for x in data:\n    print(float(step(x)))  #!\n",
        "total = 0.0\nfor x in data:\n    total += float(step(x))  #!\nprint(total)\n",
        "for x in data:\n    value = float(step(x))  #!\n    bar.set_postfix(loss=f'{value:.3f}')\n",
        "seen = []\nfor x in data:\n    seen.append(round(float(step(x)), 3))  #!\nplot(seen)\n",
        "class Log:\n    def end(self, x):\n        self.seen.append(float(x))  #!\nprint(log.seen[-1])\n",
        "def value(x):\n    return float(x)  #!\nfor x in data:\n    tf.summary.scalar('a', value(x), 0)\n",
        "log = lambda x: print(x)  #!\nfor x in data:\n    log(x)\n",
        "def tell(i, loss):\n    print(i, loss)\nfor x in data:\n    tell(0, float(step(x)))  #!\n",
    ],
)
def test_a_value_that_is_only_looked_at_is_taken_seldom_or_once(text: str) -> None:
    assert sync_said(text) == LOOKED_AT


STEPS = """for x in data:
    loss.backward()
    norm = 0.0
    for grad in grads:
        norm += nd.norm(grad).asscalar() ** 2  #!
    norm = math.sqrt(norm)
    for grad in grads:
        if norm > limit:
            grad *= limit / norm
"""
OF_EPOCHS = """for epoch in range(9):
    loss = 0.0
    for x in data:
        loss += step(x).asscalar()  #!
    if loss < best:
        best = loss
"""


def test_what_a_loop_inside_of_a_step_adds_up_is_followed_to_what_the_step_does_with_it() -> None:
    """Bug: the norm that limits gradients was to be taken every so many steps."""
    assert "clip_global_norm" in sync_said("import math\n" + STEPS, "mxnet", "asscalar")
    assert sync_said(OF_EPOCHS, "mxnet", "asscalar") == LOOKED_AT


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "for _ in range(8):\n    if float(new) < tol:  #!\n        break\n    step()\n",
            "train.py:3 whether",
        ),
        ("while step() > 1:  #!\n    pass\n", "train.py:2 whether the loop goes on"),
        (
            "for x in data:\n    rest = float(x)  #!\n    if rest < tol: break\n",
            "train.py:4 whether the loop",
        ),
        ("for x in data:\n    assert float(x) < 9  #!\n", "checked at train.py:3"),
        (
            "for x in data:\n    if tf.math.is_nan(x):  #!\n        raise ValueError\n",
            "checked at train.py:3",
        ),
    ],
)
def test_of_a_test_that_ends_something_it_is_said_when_it_may_wait(text: str, says: str) -> None:
    said = sync_said(text, kind="bool")
    assert says in said and "do no harm" in said
    assert ("tf.while_loop" in said) == ("the loop goes on" in said)


DECIDED = """\
class Scaler:
    def overflow(self, grads):
        flag = nd.multi_all_finite(*grads)
        return flag.asscalar() == 0  #!

    def adjust(self, bad):
        self.good = 0 if bad else self.good + 1

for x in data:
    bad = scaler.overflow(grads(x))
    if not bad:
        trainer.step(16)
    scaler.adjust(bad)
"""


def test_where_it_decides_whether_the_update_is_made_the_choice_belongs_on_the_device() -> None:
    """Bug: "every so many steps" would have applied gradients that overflowed."""
    said = sync_said(DECIDED, "mxnet", "asscalar")
    assert "The `if` at train.py:13 needs it in each step" in said and "nd.where" in said
    assert "every so many" not in said


MINED = """\
class Mined:
    def forward(self, pred, label):
        k = int(3 * label.sum().asscalar())  #!
        k = max(1, min(k, 9))
        return (pred * nd.topk(pred, k=k)).sum() / k
"""
GENERATED = """\
token = tf.constant([1])
for _ in range(length):
    chosen = sample(model(token)).numpy()  #!
    token = tf.expand_dims(chosen, 0)
    text.append(letters[chosen])
"""


def test_what_goes_on_with_it_on_the_device_is_named() -> None:
    assert sync_said(MINED, "mxnet", "asscalar").startswith("nd.topk at train.py:7 goes on with it")
    assert sync_said(GENERATED, kind="numpy").startswith("tf.expand_dims at train.py:5 goes on with it")
    compiled = "@tf.function\ndef one(x):\n    return x\nfor _ in range(9):\n    one(float(loss))  #!\n"
    assert sync_said(compiled).startswith("one at train.py:6 goes on with it")


def test_what_numpy_makes_of_it_and_sends_back_is_not_the_tensor_itself() -> None:
    mined = "import numpy as np\ndef f(x):\n    y = np.argsort(x.asnumpy())  #!\n    return nd.array(y)\n"
    said = sync_said(mined, "mxnet", "asnumpy")
    assert said.startswith("What is made of it goes back by nd.array at train.py:6: make that on the device")


BETWEEN = """\
class Norm:
    def __call__(self, h):
        a = h.numpy()  #!
        a = a - a.mean(axis=1, keepdims=True)
        return tf.constant(a)  #?
"""


def test_what_was_taken_from_the_device_before_is_prepared_ahead_by_no_pipeline() -> None:
    """Bug: "a prefetching input pipeline" for what the line above took from that device."""
    taken = sync_said(BETWEEN.replace("  #?", ""), kind="numpy")
    assert taken.startswith(
        "What is made of it goes back by tf.constant at train.py:6: make that on the device"
    )
    sending = TF + BETWEEN.replace("  #!", "").replace("#?", "#!")
    pull = hop("host-sync", site="train.py:4", each=1.0)
    sent: dict[str, Any] = {"hops": (hop("host-upload", "cpu:0", "gpu:0", kind="upload"),)}
    told = said("host-upload", sending, others=(pull,), **sent) or ""
    assert told.startswith("Its data was taken from gpu:0 at train.py:4: hand the tensor itself on")
    assert "prefetching" in (said("host-upload", sending, **sent) or "")
    elsewhere = hop("host-sync", "gpu:1", site="train.py:4", each=1.0)
    assert "prefetching" in (said("host-upload", sending, others=(elsewhere,), **sent) or "")


def test_what_the_run_sent_back_tells_of_calls_that_the_text_does_not_tell_of() -> None:
    text = "for x in data:\n    value = x.numpy()  #!\n    library(value)\n"
    assert sync_said(text, kind="numpy") == EITHER
    back = hop("host-upload", "cpu:0", "gpu:0", site="train.py:4", kind="upload")
    said = sync_said(text, kind="numpy", others=(back,))
    assert said.startswith("It is sent back to gpu:0 at train.py:4:")
    elsewhere = hop("host-upload", "cpu:0", "gpu:1", site="train.py:4", kind="upload")
    assert sync_said(text, kind="numpy", others=(elsewhere,)) == EITHER


REPLAY = """\
class Replay:
    def sample(self):
        return choose(self.priority)

    def set(self, index, errors):
        for i, e in zip(index, errors):
            self.priority[i] = float(abs(e)) + 1e-3

for _ in range(9):
    replay.set(index, td.asnumpy())  #!
"""


@pytest.mark.parametrize(
    ("text", "framework", "says"),
    [
        (REPLAY, "mxnet", "It is kept in self.priority at train.py:9, which other code reads: take all"),
        (
            "for _ in range(9):\n    s, r = env.step(int(x.asscalar()))  #!\n",
            "mxnet",
            "env.step at train.py:4",
        ),
    ],
)
def test_what_python_needs_of_a_step_is_taken_in_one_fetch(text: str, framework: str, says: str) -> None:
    said = sync_said(text, framework, "numpy")
    assert says in said and "in one fetch" in said


def test_what_is_kept_in_an_object_is_looked_for_in_the_other_files_too() -> None:
    text = "for _ in range(9):\n    replay.priority[0] = step().numpy()  #!\nprint(replay.priority)\n"
    assert sync_said(text, kind="numpy") == LOOKED_AT
    reads = "class Replay:\n    def sample(self):\n        return draw(self.priority)\n"
    told = sync_said(text, kind="numpy", files={"replay.py": reads})
    assert told.startswith("It is kept in replay.priority at train.py:3, which other code reads")


@pytest.mark.parametrize(
    "text",
    [
        "for x in data:\n    tracker.update(float(x))  #!\n",
        "class Layer:\n    def call(self, x):\n        return float(x)  #!\n",
        "for x in data:\n    a, b = pair(float(x))  #!\n",
        "run(lambda x: float(x))  #!\n",
        "for x in data:\n    a, b = float(x)  #!\n    tf.exp(a)\n",
        "for x in data:\n    metric.update(x)  #!\n",
    ],
)
def test_where_the_text_does_not_tell_both_cases_are_named(text: str) -> None:
    assert sync_said(text) == EITHER


def test_a_name_that_gets_another_value_is_followed_no_further() -> None:
    text = "for x in data:\n    value = float(x)  #!\n    print(value)\n    value = 3\n    tf.exp(value)\n"
    assert sync_said(text) == LOOKED_AT


METRIC = """\
import tensorflow as tf
auc = tf.keras.metrics.AUC()
for x in data:
    auc.update_state(x, x)  #!
"""
OF_METRIC = (op(4, "ReadVariableOp", "cpu:0"), op(4, "Sigmoid", "cpu:0"))


def test_an_object_whose_variables_are_at_home_goes_into_the_scope_as_a_whole() -> None:
    """Bug: its call alone in the scope sent its variables in each step, there and back."""
    away = hop("default-device", "cpu:1", "cpu:0")
    known: dict[str, Any] = {"hops": (away,), "devices": ("cpu:0", "cpu:1")}
    told = said("default-device", METRIC, ran=OF_METRIC, **known) or ""
    assert told.startswith("It uses variables on cpu:0 too: create these in the device scope of cpu:1")
    assert said("default-device", METRIC, **known) == PUT_BESIDE_INPUTS
    handed = METRIC.replace("auc = tf.keras.metrics.AUC()", "def f(auc):").replace("for x", "  for x")
    handed = handed.replace("    auc.", "      auc.")
    assert (said("default-device", handed, ran=OF_METRIC, **known) or "").startswith("It uses variables on")
    central = METRIC + "s = tf.distribute.experimental.CentralStorageStrategy()\n"
    assert said("default-device", central, ran=OF_METRIC, **known) is None


CALLED = "import tensorflow as tf\n{strategy}for x in data:\n    loss = reduce(step(x))  #!\n"


def test_no_scope_around_a_call_is_advised_under_a_strategy() -> None:
    """Bug: two findings of one line asked for the scopes of two devices, which the strategy gives itself."""
    told: dict[str, Any] = {"stations": ["gpu:1", "gpu:0", "gpu:1"], "result_of_a_call": True}
    alone = said("bounce", CALLED.format(strategy=""), **told) or ""
    assert alone.startswith("Call the function inside the device scope of gpu:1")
    made = CALLED.format(strategy="s = tf.distribute.MirroredStrategy()\n")
    assert said("bounce", made, **told) is None
    elsewhere = {"parts.py": "s = tf.distribute.MirroredStrategy()\n"}
    assert said("bounce", CALLED.format(strategy=""), files=elsewhere, **told) is None
    opened = hop("explicit", evidence={"scope_opener": "tensorflow/python/distribute/mirrored_run.py:run"})
    assert said("bounce", CALLED.format(strategy=""), others=(opened,), **told) is None
    beside = hop(
        "explicit", evidence={"scope_opener": "tensorflow/python/distribute/distribute_lib.py:update"}
    )
    assert said("bounce", CALLED.format(strategy=""), others=(beside,), **told) == alone


def test_of_a_variable_that_may_be_used_at_its_home_too_it_is_said_what_to_do_then() -> None:
    text = "import tensorflow as tf\nlogits = tf.matmul(x, table, transpose_b=True)  #!\n"
    read: Any = {
        "hops": (hop("variable-home", "gpu:0", "gpu:1", producer_op="ReadVariableOp", site="train.py:2"),)
    }
    there = op(9, "ResourceGather", "gpu:0"), op(2, "ReadVariableOp", "gpu:0")
    plain = said("variable-home", text, **read) or ""
    assert said("variable-home", text, ran=there, **read) == (
        f"{plain} Variables of gpu:0 are read there too, at train.py:9: if this is one of them, leave it"
        " there, do on gpu:0 what reads it here, and send the result on."
    )


SPLIT = """\
import tensorflow as tf
for x in data:
    grads = tape.gradient(loss, [w1, w2])  #!
    opt.apply_gradients(zip(grads, [w1, w2]))
"""


def test_gradients_of_two_scopes_are_computed_in_stages() -> None:
    """Bug: one call was to stand in the device scopes of two devices."""
    told = said("gradient-outside-scope", SPLIT, forward_requested=["gpu:1", "gpu:0"]) or ""
    assert told.startswith("One call computes all its gradients in one scope") and "output_gradients" in told
    also: dict[str, Any] = {"forward_requested": "gpu:1", "gradients_of": ["gpu:0", "gpu:1"]}
    assert said("gradient-outside-scope", SPLIT, **also) == told
    of_one = said("gradient-outside-scope", SPLIT, forward_requested=["gpu:1", "gpu:1"]) or ""
    assert of_one == "Compute the gradients in the device scope of gpu:1, like the forward ops."


def copied(line: int, made_by: str = "normal") -> Hop:
    """A copy of what the line makes on the host, in each step."""
    site = f"train.py:{line}"
    return hop("explicit", "cpu:0", "gpu:1", site=site, producer_site=site, producer_op=made_by)


def test_values_that_a_step_reads_one_by_one_are_read_together() -> None:
    """Bug: "take the value every so many steps" was said of the 12 values of a norm."""
    text = MX + "for p in params:\n    total = total + norm(p).asscalar()  #!\n    library(total)\n"
    pulls = hop("host-sync", each=6.0), hop("host-sync", "gpu:1", each=6.0)
    assert said("host-sync", text, framework="mxnet", hops=pulls, taken_by="asscalar") == (
        "Each step reads 12 values here, one by one: join them on gpu:0 and gpu:1, or add them up there, and"
        " read the result once."
    )


def test_an_int32_variable_that_a_gpu_reads_is_asked_into_no_scope() -> None:
    """Bug: its creation was put into a scope of the GPU, where TensorFlow keeps no int32 variable."""
    text = TF + "ids = tf.Variable([1, 2, 3])\nnear = tf.gather(values, ids)  #!\n"
    read = hop("variable-home", "cpu:0", "gpu:0", dtype="int32", producer_op="ReadVariableOp")
    known: dict[str, Any] = {"hops": (read,), "created_at": "train.py:2"}
    assert fixed("variable-home", text, **known) is None
    assert (said("variable-home", text, **known) or "").startswith("Make the variable int64")
