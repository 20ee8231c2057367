"""Tests of a user's own that forbid transfers, run by pytest where TensorFlow or MXNet is installed."""

from __future__ import annotations

import re
import signal
import subprocess
from pathlib import Path

import pytest

from tests.integration.users_packages import add_pytest, environment, install_hopscope
from tests.integration.waiting import until

_TENSORFLOW = """
import pytest
import hopscope
from hopscope import judge
import tensorflow as tf

cpus = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpus[0], [tf.config.LogicalDeviceConfiguration()] * 3)


@tf.function
def early():
    with tf.device("/CPU:1"):
        a = tf.random.uniform([8])
    with tf.device("/CPU:2"):
        return tf.reduce_sum(a)


early()


def values():
    with tf.device("/CPU:1"):
        return tf.random.uniform([8])


def total(x):
    with tf.device("/CPU:2"):
        return tf.reduce_sum(x)


def send(array):
    with tf.device("/CPU:2"):
        return tf.constant(array) + 1
"""
_MXNET = """
import pytest
import hopscope
from hopscope import judge
import mxnet as mx


def values():
    return mx.nd.ones((8,), ctx=mx.cpu(1))


def total(x):
    return x.as_in_context(mx.cpu(2)).sum()


def send(array):
    return mx.nd.array(array, ctx=mx.cpu(2)) + 1
"""
_TESTS = """

@pytest.mark.hopscope(forbid=["explicit", "host-sync"])
def test_marked_crosses():
    total(values())


@pytest.mark.hopscope(forbid=["host-sync", "default-device"])
def test_marked_may_cross():
    total(values())


def test_part_of_it(hopscope_forbid):
    found = total(values())
    first = judge._judge
    with hopscope_forbid("explicit"):
        values()
    with pytest.raises(hopscope.ForbiddenTransfer, match="host-sync") as failed:
        with hopscope_forbid("host-sync", "variable-home"):
            {pull}
    assert isinstance(failed.value, AssertionError)
    assert judge._judge is first  # one process judges all blocks


def test_small_bounce(hopscope_forbid):
    with pytest.raises(hopscope.ForbiddenTransfer, match="bounce"):
        with hopscope_forbid("bounce"):
            send({take})
    with hopscope_forbid("bounce"):
        send({take} * 2)


class TestOfAClass:
    @pytest.mark.parametrize("device", [2])
    def test_named(self, device):
        with hopscope.forbid("explicit"):
            total(values())


@pytest.mark.xfail
@pytest.mark.hopscope(forbid=["explicit"])
def test_known():
    total(values())


@pytest.mark.hopscope(forbid=["explicit"])
def test_its_own_failure_is_told_alone():
    total(values())
    raise ValueError("its own")


@pytest.mark.hopscope(forbid="host-snyc")
def test_a_code_that_is_none():
    pass
"""
_OWN = {"tensorflow": _TENSORFLOW, "mxnet": _MXNET}
_TAKE = {"tensorflow": "values().numpy()", "mxnet": "values().asnumpy()"}
_PULL = {"tensorflow": "found.numpy()", "mxnet": "found.asscalar()"}
_FUNCTIONS = """

@pytest.mark.hopscope(forbid=["explicit"])
def test_inside_a_function():
    @tf.function
    def crosses():
        with tf.device("/CPU:2"):
            x = tf.random.uniform([4])
        with tf.device("/CPU:1"):
            return tf.reduce_max(x)

    crosses()


@pytest.mark.hopscope(forbid=["explicit"])
def test_what_was_traced_before():
    early()
"""


@pytest.mark.parametrize("framework", ["tensorflow", "mxnet"])
def test_a_test_fails_where_it_does_what_is_forbidden(
    framework: str, tmp_path: Path, hopscope_home: Path, request: pytest.FixtureRequest
) -> None:
    python = request.getfixturevalue({"tensorflow": "tf_python", "mxnet": "mx_python"}[framework])
    packages = add_pytest(install_hopscope(tmp_path / "packages"))
    text = _OWN[framework] + _TESTS.replace("{pull}", _PULL[framework]).replace("{take}", _TAKE[framework])
    own = tmp_path / "project" / "checks" / "test_own.py"
    own.parent.mkdir(parents=True)
    own.write_text(text + (_FUNCTIONS if framework == "tensorflow" else ""))
    (tmp_path / "project" / "pytest.ini").touch()
    done = subprocess.run(
        [python, "-m", "pytest", "-p", "no:cacheprovider", "--strict-markers", "-rA", "checks"],
        cwd=tmp_path / "project",
        env=environment(packages, hopscope_home),
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    out = done.stdout
    functions = {"test_what_was_traced_before": "PASSED", "test_inside_a_function": "FAILED"}
    told = {
        name: outcome for outcome, name in re.findall(r"^(PASSED|FAILED|ERROR|XFAIL) \S+::(\w+)", out, re.M)
    }
    assert told == {
        "test_marked_crosses": "FAILED",
        "test_marked_may_cross": "PASSED",
        "test_part_of_it": "PASSED",
        "test_small_bounce": "PASSED",
        "test_named": "FAILED",
        "test_known": "XFAIL",
        "test_its_own_failure_is_told_alone": "FAILED",
        "test_a_code_that_is_none": "FAILED",
    } | (functions if framework == "tensorflow" else {}), out + done.stderr
    line = next(number for number, row in enumerate(text.splitlines(), 1) if row.startswith("def total")) + 1
    line += 1 if framework == "tensorflow" else 0
    op = {"tensorflow": "Sum", "mxnet": "_copyto"}[framework]
    assert re.search(rf"explicit: {op} at checks/test_own\.py:{line}: \S+ cpu:1 -> cpu:2, 32 B, once", out), (
        out
    )
    assert re.search(rf"^FAILED \S+::test_marked_crosses - explicit: {op} at ", out, re.M), out
    assert "All traceback entries are hidden" not in out
    source = text.splitlines()[line - 1].strip()
    assert re.search(rf"once\n +(E +)?{line} \| {re.escape(source)}\n +(E +)?run 2", out), out
    assert "contextlib.py" not in out, "a block that fails is shown at the test's own line"
    assert "ValueError: its own" in out
    assert "did you mean 'host-sync'?" in out
    if framework == "tensorflow":
        assert re.search(r"explicit: Max at checks/test_own\.py:\d+: \S+ cpu:2 -> cpu:1, 16 B, once", out), (
            out
        )
        assert "not seen, so not judged: ops inside early: it was traced before the recorder came" in out
    # Only tests that failed left a run: not the one that was to fail, nor the one of which a part was.
    runs = sorted(path.name for path in (hopscope_home / "runs").iterdir())
    inside = ["test-inside-a-function"] if framework == "tensorflow" else []
    assert sorted(run.rpartition("-")[0][16:] for run in runs) == [
        *inside,
        "test-marked-crosses",
        "testofaclass-test-named-2",
    ]
    assert f"kept in {hopscope_home / 'runs'}" in out
    assert dict(re.findall(r"^(2\S+)  (checks\S+)$", out, re.M)).keys() == set(runs)
    [named] = [run for run in runs if "named" in run]
    assert f"{named}  checks/test_own.py::TestOfAClass::test_named[2]" in out


def test_without_the_dashboards_interpreter_it_says_what_to_do(tmp_path: Path, mx_python: Path) -> None:
    packages = install_hopscope(tmp_path / "packages")
    variables = environment(packages, tmp_path / "home") | {"HOPSCOPE_PYTHON": str(tmp_path / "none")}
    words = "import hopscope\nwith hopscope.forbid('host-sync'): raise SystemExit('it went on')"
    done = subprocess.run(
        [mx_python, "-c", words],
        env=variables,
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 1
    (last,) = done.stderr.splitlines()[-1:]
    assert re.fullmatch(
        r"hopscope\.clone\.HopscopeError: the dashboard's interpreter, which reads recordings, is not at "
        r"\S+/none: python3 \S+/app makes it \(once\), HOPSCOPE_PYTHON names another",
        last,
    )


def test_without_the_clone_it_says_what_to_do(tmp_path: Path, mx_python: Path) -> None:
    packages = install_hopscope(tmp_path / "packages")
    variables = environment(packages, tmp_path / "home") | {"HOPSCOPE_CLONE": str(tmp_path / "moved")}
    words = "import hopscope\nwith hopscope.record(): pass"
    done = subprocess.run(
        [mx_python, "-c", words],
        env=variables,
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 1
    assert f"Hopscope's clone is not in {tmp_path}/moved, which $HOPSCOPE_CLONE names" in done.stderr


_KILLED = """
import os, signal, sys, time
import mxnet as mx
import hopscope
from hopscope import judge

with hopscope.forbid("explicit"):
    mx.nd.ones((3,)).wait_to_read()
print(judge._judge._process.pid, flush=True)
child = os.fork()
if child == 0:
    sys.stdin.read()  # a child that outlives it, with its end of the judge's pipe
    os._exit(0)
with hopscope.forbid("explicit"):
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_process_leaves_no_judge_and_the_next_block_clears_up(
    tmp_path: Path, mx_python: Path
) -> None:
    packages = install_hopscope(tmp_path / "packages")
    variables = environment(packages, tmp_path / "home")
    words = [str(mx_python), "-W", "ignore", "-c", _KILLED]
    with subprocess.Popen(
        words, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as own:
        assert own.stdin is not None
        assert own.stdout is not None
        judge = int(own.stdout.readline())
        assert own.wait(120) == -signal.SIGKILL
        until(lambda: not alive(judge))
        [left] = (tmp_path / "home" / "runs").iterdir()
        assert left.name.startswith(".new-")
        own.stdin.close()
    # Its own judge is killed in between.
    again = (
        "import os, signal, hopscope\n"
        "from hopscope import judge\n"
        "with hopscope.forbid('explicit', keep=True, name='again'): pass\n"
        "os.kill(judge._judge._process.pid, signal.SIGKILL)\n"
        "with hopscope.forbid('explicit'): pass\n"
    )
    words = [str(mx_python), "-W", "ignore", "-c", again]
    subprocess.run(words, env=variables, check=True, cwd=tmp_path)
    [kept] = (tmp_path / "home" / "runs").iterdir()
    assert kept.name.rpartition("-")[0].endswith("-again")


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
