"""The MXNet recorder on real MXNet: where ops ran, what crossed, at which line, and how often."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from app.facts.tables import tables_of
from app.store.run import open_run
from tests.integration.recording import SCRIPTS, Recorded, by, record, written

PARAMETERS = {"dense0_weight": 512, "dense0_bias": 64, "dense1_weight": 256, "dense1_bias": 16}
"""Bytes of each parameter of mx_replicas.py: 16 x 8, 16, 4 x 16 and 4 floats."""


def recorded(python: Path, script: str, *args: str) -> Recorded:
    run = record(python, SCRIPTS / script, *args, framework="mxnet")
    assert run.run.state == "finished", run.log[-2000:]
    return run


def line(script: str, comment: str) -> str:
    """The site of the line that ends with this comment."""
    for number, text in enumerate((SCRIPTS / script).read_text().splitlines(), 1):
        if text.endswith(f"  # {comment}"):
            return f"{script}:{number}"
    raise AssertionError(f"no line of {script} ends with {comment!r}")


@pytest.fixture(scope="module")
def eager(mx_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOPSCOPE_HOME", str(tmp_path_factory.mktemp("home")))
        return recorded(mx_python, "mx_eager.py")


def at(run: Recorded, table: str, comment: str, *names: str) -> list[tuple[Any, ...]]:
    rows = by(run.report[table], site=line("mx_eager.py", comment))
    return sorted((tuple(row[name] for name in names) for row in rows), key=str)


@pytest.mark.parametrize(
    ("comment", "src", "dst", "size", "cause"),
    [
        ("upload", "cpu:0", "cpu:1", 24, "host-upload"),
        ("copy", "cpu:1", "cpu:2", 24, "explicit"),
        ("redundant copy", "cpu:1", "cpu:1", 24, "redundant-copy"),
        ("copy into", "cpu:1", "cpu:2", 24, "explicit"),
        ("assignment from elsewhere", "cpu:2", "cpu:1", 12, "explicit"),
    ],
)
def test_every_transfer_has_its_line_and_bytes(
    eager: Recorded, comment: str, src: str, dst: str, size: int, cause: str
) -> None:
    assert at(eager, "hops", comment, "src", "dst", "bytes", "count", "cause") == [(src, dst, size, 1, cause)]


@pytest.mark.parametrize("comment", ["no copy", "a copy that is wanted"])
def test_what_sends_nothing_is_no_hop(eager: Recorded, comment: str) -> None:
    assert at(eager, "hops", comment, "src") == []


def test_a_pull_is_a_sync_and_a_hop(eager: Recorded) -> None:
    assert at(eager, "syncs", "scalar", "device", "kind", "count") == [("cpu:1", "asscalar", 3)]
    assert at(eager, "hops", "scalar", "src", "dst", "bytes", "count") == [("cpu:1", "cpu:0", 4, 3)]
    assert at(eager, "syncs", "print", "device", "kind", "count") == [("cpu:2", "print", 1)]
    assert at(eager, "syncs", "wait", "device", "kind", "count") == [("cpu:2", "wait_to_read", 1)]
    assert at(eager, "syncs", "wait for all", "kind", "count") == [("waitall", 1)]


def test_an_upload_waits_for_those_who_use_the_array(eager: Recorded) -> None:
    comment = "upload into what is in use"
    assert at(eager, "syncs", comment, "device", "kind", "count") == [("cpu:2", "upload", 1)]
    assert at(eager, "hops", comment, "src", "dst", "bytes", "count") == [("cpu:0", "cpu:2", 24, 1)]
    assert at(eager, "syncs", "upload", "kind") == []


def test_a_syncs_time_is_split_into_waiting_and_copying(eager: Recorded) -> None:
    (row,) = by(eager.report["syncs"], site=line("mx_eager.py", "scalar"))
    assert row["wait_ns"] > 0
    assert row["copy_ns"] > 0
    assert row["basis"] == "measured"


def test_an_op_on_mixed_contexts_is_a_finding_and_no_hop(eager: Recorded) -> None:
    assert at(eager, "hops", "mixed", "src") == []
    (finding,) = by(eager.report["findings"], code="mixed-context")
    assert finding["site"] == line("mx_eager.py", "mixed")
    assert finding["severity"] == "error"


def test_ops_that_take_the_newer_call_interface_are_seen(eager: Recorded, mx_python: Path) -> None:
    from app.reports.run_report import run_report

    ops = run_report(eager.run.path, ops=True)["ops"]
    found = {(op["type"], op["assigned"]) for op in ops}
    assert {("_npi_zeros", "cpu:2"), ("_npi_tensordot", "cpu:2")} <= found


def test_gradients_cross_back_only_for_what_the_loss_depends_on(mx_python: Path, hopscope_home: Path) -> None:
    run = recorded(mx_python, "mx_autograd.py")
    there = line("mx_autograd.py", "copied there and its gradient back")
    back = line("mx_autograd.py", "backward")
    rows = run.hops("src", "dst", "bytes", "count", "basis", "forward_site", site=back)
    assert rows == [("cpu:2", "cpu:1", 80, 4, "inferred", there)]
    for comment in (
        "copied there and its gradient back",
        "copied there, no gradient",
    ):
        assert run.hops("src", "dst", "bytes", "count", site=line("mx_autograd.py", comment)) == [
            ("cpu:1", "cpu:2", 80, 4)
        ]


def test_a_hybridized_blocks_ops_have_their_own_lines(mx_python: Path, hopscope_home: Path) -> None:
    from app.reports.run_report import run_report

    run = recorded(mx_python, "mx_hybrid.py")
    ops = {(op["type"], op["assigned"], op["site"]) for op in run_report(run.run.path, ops=True)["ops"]}
    hidden, output = line("mx_hybrid.py", "hidden"), line("mx_hybrid.py", "output")
    assert {
        ("FullyConnected", "cpu:1", hidden),
        ("relu", "cpu:1", hidden),
        ("FullyConnected", "cpu:1", output),
    } <= ops
    assert run.report["steps"] == 5
    (finding,) = by(run.report["findings"], code="mixed-context")
    assert finding["site"] == line("mx_hybrid.py", "refused")


def test_a_graph_over_contexts_copies_at_its_boundary_only(mx_python: Path, hopscope_home: Path) -> None:
    run = recorded(mx_python, "mx_groups.py")
    graph = [hop for hop in run.report["hops"] if hop["producer"] in ("data", "act1", "fc2_backward")]
    found = {(h["producer"], h["src"], h["dst"], h["bytes"], h["count"], h["cause"]) for h in graph}
    assert found == {
        ("data", "cpu:0", "cpu:1", 5 * 6 * 4, 10, "explicit"),
        ("act1", "cpu:1", "cpu:2", 5 * 8 * 4, 10, "explicit"),
        ("fc2_backward", "cpu:2", "cpu:1", 5 * 8 * 4, 7, "explicit"),
    }
    sites = {hop["producer"]: hop["site"] for hop in graph}
    assert sites["act1"] == line("mx_groups.py", "boundary")
    assert sites["fc2_backward"] == line("mx_groups.py", "backward")
    (pulled,) = by(run.report["hops"], cause="host-sync")
    assert (pulled["producer"], pulled["producer_site"]) == ("softmax", line("mx_groups.py", "outputs"))


MONITOR = """
import atexit, ctypes, mxnet as mx
from mxnet.base import NDArrayHandle
from mxnet.symbol import Symbol
bind = Symbol.simple_bind
def watched(self, *args, **kwargs):
    executor = bind(self, *args, **kwargs)
    def seen(name, raw):
        array = mx.nd.NDArray(ctypes.cast(raw, NDArrayHandle), writable=False)
        size = 4
        for extent in array.shape:
            size *= extent
        print("seen", name.decode(), array.context, size)
    executor.set_monitor_callback(seen, monitor_all=True)
    return executor
Symbol.simple_bind = watched
"""


def test_devices_and_bytes_agree_with_mxnets_monitor(mx_python: Path, hopscope_home: Path) -> None:
    script = SCRIPTS / "mx_groups.py"
    program = MONITOR + script.read_text()
    done = subprocess.run(
        [mx_python, "-W", "ignore", "-c", program], capture_output=True, text=True, check=True, timeout=120
    )
    own: Counter[tuple[str, str, int]] = Counter()
    for name, kind, number, size in re.findall(
        r"seen (\w+)_copy_(?:data|output) (\w+)\((\d)\) (\d+)", done.stdout
    ):
        own[name.removesuffix("_0"), f"{kind}:{number}", int(size)] += 1
    assert sum(own.values()) == 2 * (3 * 10 + 7), "three copies forward and one backward, both their ends"
    ours: Counter[tuple[str, str, int]] = Counter()
    for hop in recorded(mx_python, "mx_groups.py").report["hops"]:
        if hop["producer"] in {name for name, _, _ in own}:
            ours[hop["producer"], hop["src"], hop["bytes"]] += hop["count"]
            ours[hop["producer"], hop["dst"], hop["bytes"]] += hop["count"]
    assert ours == own


@pytest.mark.parametrize(("store", "home"), [("local", "cpu:0"), ("device", None)])
def test_a_kvstore_sums_every_gradient_once_a_step(
    mx_python: Path, hopscope_home: Path, store: str, home: str | None
) -> None:
    run = recorded(mx_python, "mx_replicas.py", store)
    site = line("mx_replicas.py", "step")
    pushes = by(run.report["hops"], site=site, op="kvstore push")
    assert {hop["basis"] for hop in pushes} == {"inferred"}
    sent: Counter[str] = Counter()
    for hop in pushes:
        assert hop["bytes"] == PARAMETERS[hop["tensor"]]
        assert home in (None, hop["dst"])
        sent[hop["tensor"]] += hop["count"]
    # The host gets both replicas' gradients; one of the devices gets the other's.
    assert sent == Counter(dict.fromkeys(PARAMETERS, 16 if home else 8))
    causes = {hop["cause"] for hop in pushes}
    assert causes == ({"reduce-on-host"} if home else {"collective"})
    payload = sum(row["payload_bytes"] for row in by(run.report["collectives"], site=site))
    assert payload == sum(PARAMETERS.values())
    assert not by(run.report["findings"], code="replica-drift")
    assert not by(run.report["findings"], code="mixed-context")


STRING_KEYS = """
import mxnet as mx
store = mx.kv.create("device")
store.set_optimizer(mx.optimizer.SGD(learning_rate=0.1))
contexts = [mx.cpu(1), mx.cpu(2)]
store.init("weight", mx.nd.ones((4, 5)))
for _ in range(3):
    store.push("weight", [mx.nd.ones((4, 5), ctx=context) for context in contexts])
    store.pull("weight", [mx.nd.zeros((4, 5), ctx=context) for context in contexts])
"""


def test_a_stores_string_keys_are_followed_like_numbers(
    mx_python: Path, hopscope_home: Path, tmp_path: Path
) -> None:
    moves = []
    for text in (STRING_KEYS, STRING_KEYS.replace('"weight"', "0")):
        run = record(mx_python, written(tmp_path, text), framework="mxnet")
        moves.append(run.hops("src", "dst", "op", "bytes", "count"))
    assert moves[0] == moves[1]
    assert ("cpu:0", "cpu:1", "kvstore pull", 80, 3) in moves[0]


TURNS = """
import mxnet as mx
from mxnet import autograd, gluon
nets = [gluon.nn.Dense(2, in_units=3) for _ in range(2)]
for net in nets: net.initialize()
first, second = [gluon.Trainer(net.collect_params(), "sgd") for net in nets]
data = mx.nd.ones((4, 3))
for _ in range(6):
    with autograd.record():
        losses = [net(data).sum() for net in nets]
    autograd.backward(losses)
    first.step(4)
    second.step(4)
"""


def test_optimizers_that_take_turns_make_a_step_together(
    mx_python: Path, hopscope_home: Path, tmp_path: Path
) -> None:
    assert record(mx_python, written(tmp_path, TURNS), framework="mxnet").report["steps"] == 6


VIEWS = """
import mxnet as mx
from mxnet import autograd, nd
weights = [nd.ones((6, 4), ctx=mx.cpu(one)) for one in (1, 2)]
for weight in weights: weight.attach_grad()
for _ in range(6):
    data = nd.ones((8, 6))
    with autograd.record():
        parts = [data[4 * one : 4 * one + 4].as_in_context(mx.cpu(one + 1)) for one in range(2)]
        losses = [nd.dot(part, weight).square().sum() for part, weight in zip(parts, weights)]
    for loss in losses:
        loss.backward()
with autograd.record():
    loss = nd.dot(parts[0], weights[0])[1:3].as_in_context(mx.cpu(2)).sum()
loss.backward()
"""


def test_each_loss_has_its_own_backward_pass_and_a_view_is_an_op_of_it(
    mx_python: Path, hopscope_home: Path, tmp_path: Path
) -> None:
    from app.reports.run_report import run_report

    run = record(mx_python, written(tmp_path, VIEWS), framework="mxnet")
    ran = run_report(run.run.path, ops=True)["ops"]
    back = {(op["assigned"], op["site"]) for op in ran if op["type"] == "dot (backward)"}
    assert back == {("cpu:1", "script.py:12"), ("cpu:2", "script.py:12"), ("cpu:1", "script.py:15")}
    copied_back = run.hops("src", "dst", "count", "site", basis="inferred")
    assert copied_back == [("cpu:2", "cpu:1", 1, "script.py:15")], "only what came from a weight, by a slice"


def test_an_op_without_outputs_writes_to_what_it_is_given(mx_python: Path, hopscope_home: Path) -> None:
    from app.reports.run_report import run_report

    run = recorded(mx_python, "mx_accumulates.py")
    assert run.report["unseen"] == []
    (zeroed,) = by(run_report(run.run.path, ops=True)["ops"], type="reset_arrays")
    where = zeroed["assigned"], zeroed["site"]
    assert where == ("cpu:1", line("mx_accumulates.py", "set to zero"))


def test_replicas_that_exchange_nothing_are_found_to_drift(mx_python: Path, hopscope_home: Path) -> None:
    run = recorded(mx_python, "mx_replicas.py", "none")
    (finding,) = by(run.report["findings"], code="replica-drift")
    assert finding["severity"] == "error"
    assert finding["site"] == line("mx_replicas.py", "step")
    assert finding["evidence"]["trainer_made_at"] == line("mx_replicas.py", "trainer")
    assert not run.report["collectives"]


@pytest.mark.parametrize(
    ("script", "args"), [("mx_groups.py", ()), ("mx_replicas.py", ("none",)), ("mx_replicas.py", ("device",))]
)
def test_results_are_bit_equal(
    mx_python: Path, hopscope_home: Path, script: str, args: tuple[str, ...]
) -> None:
    command = [str(mx_python), "-W", "ignore", str(SCRIPTS / script), *args]
    plain = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    printed = plain.stdout.strip().splitlines()[-1]
    assert len(printed) > 8
    assert printed in recorded(mx_python, script, *args).log


KILLED = """
import os, signal, mxnet as mx
x = mx.nd.ones((2, 3), ctx=mx.cpu(1))
for _ in range(1000):
    x = x * 1.0
    y = x.as_in_context(mx.cpu(2))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_all_is_there_after_a_kill(mx_python: Path, hopscope_home: Path, tmp_path: Path) -> None:
    run = record(mx_python, written(tmp_path, KILLED), framework="mxnet")
    assert run.run.state == "failed"
    assert run.hops("src", "dst", "bytes", "count") == [("cpu:1", "cpu:2", 24, 1000)]


THREADS = """
import threading, mxnet as mx
def work(context):
    for _ in range(10):
        mx.nd.ones((4,), ctx=mx.cpu(1)).as_in_context(context)
threads = [threading.Thread(target=work, args=(mx.cpu(2),)) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def test_threads_are_recorded_alike(mx_python: Path, hopscope_home: Path, tmp_path: Path) -> None:
    run = record(mx_python, written(tmp_path, THREADS), framework="mxnet")
    assert run.hops("src", "dst", "count", "site") == [("cpu:1", "cpu:2", 40, "script.py:5")]


REFUSED = """\
import mxnet as mx
for make in (
    lambda: mx.nd.ones((2,), ctx=mx.gpu(0)),  # op
    lambda: mx.nd.array([1, 2], ctx=mx.gpu(1)),  # array
    lambda: mx.nd.ones((2,)).as_in_context(mx.gpu(0)),  # copy
    lambda: (mx.sym.var("x") * 2).simple_bind(mx.gpu(0), x=(2,)),  # bind
    lambda: mx.nd.dot(mx.nd.ones((2, 3)), mx.nd.ones((2, 3))),  # no matter of devices
):
    try:
        make()
    except (mx.MXNetError, RuntimeError) as error:
        print("raised", type(error).__name__)
mx.np.ones((2,), ctx=mx.gpu(0))  # end
"""


def test_a_device_that_is_not_there_is_an_error_at_the_lines_that_ask_for_it(
    mx_python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bug: the run failed by it, and its report had no finding."""
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    run = record(mx_python, written(tmp_path, REFUSED), framework="mxnet")
    assert run.run.state == "failed" and run.log.count("raised ") == 5
    assert run.log.rstrip().endswith("is not implemented for GPU.")
    first, second = by(run.report["findings"], code="missing-device")
    assert (first["severity"], first["site"]) == ("error", "script.py:3")
    assert first["evidence"]["asked_at"] == ["script.py:3", "script.py:5", "script.py:6", "script.py:13"]
    assert (second["site"], second["evidence"]["missing"]) == ("script.py:4", "gpu:1")


def test_updaters_in_turn_all_make_steps(mx_python: Path, hopscope_home: Path) -> None:
    assert recorded(mx_python, "mx_updaters_in_turn.py").report["steps"] == 12


@pytest.mark.parametrize(
    ("way", "comment"),
    [
        ("push", "push"),
        ("updater", "push"),
        ("pushpull", "pushpull"),
        ("trainer", "trainer"),
        ("module", "module"),
        ("sums", None),  # the store has no optimizer
    ],
)
def test_an_optimizer_that_a_kvstore_has_makes_steps(
    mx_python: Path, hopscope_home: Path, way: str, comment: str | None
) -> None:
    run = recorded(mx_python, "mx_pushes.py", way)
    assert run.report["steps"] == (8 if comment else None)
    tables = tables_of(open_run(run.run.path))
    marks = [key for key in tables.of_kind("mark") if key.fields["name"] == "step"]
    lines = [tables.site(key.fields["loc"]) for key in marks]
    assert lines == ([line("mx_pushes.py", comment)] if comment else [])
    (summed,) = [one for one in run.report["findings"] if one["code"] == "reduce-on-host"]
    assert ("each step" in summed["summary"]) == bool(comment)


SENT_AHEAD = """
import queue
import threading

import mxnet as mx
import numpy as np
from mxnet import autograd, gluon, nd

contexts = [mx.cpu(1), mx.cpu(2)]
mx.random.seed(1)
net = gluon.nn.Dense(4, in_units=8)
net.initialize(mx.init.Xavier(), ctx=contexts)
ahead = queue.Queue(2)


def send():
    for number in range(16):
        rows = np.random.RandomState(number).rand(32, 8).astype("float32")
        ahead.put([nd.array(rows + place, ctx=context) for place, context in enumerate(contexts)])
    ahead.put(None)


threading.Thread(target=send, daemon=True).start()
for batch in iter(ahead.get, None):
    with autograd.record():
        losses = [nd.square(net(x)).mean() for x in batch]
    autograd.backward(losses)
    for parameter in net.collect_params().values():
        for weight, gradient in zip(parameter.list_data(), parameter.list_grad()):
            nd.sgd_update(weight, gradient, lr=0.1, out=weight)
nd.waitall()
"""


def test_a_thread_that_sends_ahead_and_parameters_by_their_names(
    mx_python: Path, hopscope_home: Path, tmp_path: Path
) -> None:
    run = record(mx_python, written(tmp_path, SENT_AHEAD), framework="mxnet")
    (upload,) = by(run.report["findings"], code="host-upload")
    assert (upload["severity"], upload["fix"]) == ("info", None)
    assert upload["evidence"]["by_another_thread"] is True
    (drift,) = by(run.report["findings"], code="replica-drift")
    named = drift["evidence"]["parameter_with_the_largest_difference"]
    assert re.fullmatch(r"dense0_(weight, of shape 4x8|bias, of shape 4)", named)
