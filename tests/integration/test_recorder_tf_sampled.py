"""Executions in loops and branches by default: nothing differs in the process, and counts say `sampled`."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.integration.recording import SCRIPTS, Recorded, record, written

QUIET = {"TF_CPP_MIN_LOG_LEVEL": "0", "TF_ENABLE_ONEDNN_OPTS": "0"}
_PREFIX = re.compile(rb"(?m)^([IWEF])\d{4} \S+ +\d+ ")
_CANCELLED = re.compile(rb"(?m)(?:^.*recv item cancelled\. Key hash: \d+\n)+")
"""As many lines as tensors were under way when the loop ended: that is chance."""


def separately(python: Path, script: Path, folder: Path, *args: str, recorded: bool, **env: str) -> Any:
    """Run a script with its two outputs apart, as no run of Hopscope keeps them."""
    inject = Path(__file__).resolve().parents[2] / "probes" / "inject"
    folder.mkdir()
    variables = {
        "PYTHONPATH": str(inject),
        "HOPSCOPE_RUN_DIR": str(folder),
        "HOPSCOPE_TRACE": str(int(recorded)),
    }
    command = [str(python), str(script), *args]
    return subprocess.run(
        command, env=os.environ | QUIET | variables | env, capture_output=True, check=True, timeout=240
    )


def lines(error: bytes) -> bytes:
    """Standard error without what differs from run to run: times, threads, and what was under way."""
    return _CANCELLED.sub(b"cancelled\n", _PREFIX.sub(rb"\1 ", error))


@pytest.mark.parametrize(("script", "args"), [("loop_ends.py", ("40",)), ("fit_ragged.py", ())])
def test_standard_error_is_equal_with_and_without_the_recorder(
    tf_python: Path, tmp_path: Path, script: str, args: tuple[str, ...]
) -> None:
    path = SCRIPTS / script
    alone = separately(tf_python, path, tmp_path / "alone", *args, recorded=False)
    recorded = separately(tf_python, path, tmp_path / "recorded", *args, recorded=True)
    assert list((tmp_path / "recorded" / "trace").glob("*.jsonl")), "it was recorded"
    assert lines(recorded.stderr) == lines(alone.stderr)


def test_no_descriptor_is_exchanged_by_calls_with_loops(tf_python: Path, tmp_path: Path) -> None:
    done = separately(tf_python, SCRIPTS / "loop_ends.py", tmp_path / "run", "40", recorded=True)
    found = json.loads(done.stdout.splitlines()[-1])
    ours = str(tmp_path / "run")
    for table in found.values():
        table.update({name: "ours" for name, where in table.items() if where.startswith(ours)})
    assert found["after"] == found["before"]


MANY = """\
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)


@tf.function
def turns(x):
    for turn in tf.range(5):
        with tf.device("CPU:1"):
            x = tf.tanh(x)  # line 11
        for _ in tf.range(2):
            with tf.device("CPU:2"):
                x = x - 1.0  # line 14
    return x


for _ in range(3000):
    turns(tf.ones((4, 4)))
"""


def of_lines(run: Recorded, *lines: int) -> list[tuple[Any, ...]]:
    sites = [f"script.py:{line}" for line in lines]
    return [found for found in run.hops("site", "src", "dst", "count", "basis") if found[0] in sites]


def test_calls_that_are_alike_have_the_right_count_and_say_that_it_is_sampled(
    hopscope_home: Path, tf_python: Path, tmp_path: Path
) -> None:
    run = record(tf_python, written(tmp_path, MANY))
    found = of_lines(run, 11, 14)
    assert [row[:3] for row in found] == [
        ("script.py:11", "cpu:0", "cpu:1"),
        ("script.py:14", "cpu:0", "cpu:2"),
        ("script.py:14", "cpu:1", "cpu:2"),
    ] or len(found) >= 2
    assert {row[4] for row in found} == {"sampled"}
    counts = {row[0]: 0 for row in found}
    for site, _, _, count, _ in found:
        counts[site] += count
    assert counts["script.py:11"] == pytest.approx(3000 * 5, rel=0.02)
    assert run.report["unseen"] == []


def test_the_same_findings_as_with_exact_counts(hopscope_home: Path, tf_python: Path, tmp_path: Path) -> None:
    sampled = record(tf_python, written(tmp_path, MANY))
    exact = record(tf_python, written(tmp_path, MANY), exact=True)
    assert {row[4] for row in of_lines(exact, 11, 14)} == {"estimated"}

    def found(run: Recorded) -> list[tuple[Any, ...]]:
        return [(row["code"], row["severity"], row["site"]) for row in run.report["findings"]]

    assert found(sampled) == found(exact)
    assert sampled.hops("site", "src", "dst", "cause") == exact.hops("site", "src", "dst", "cause")


THREADS = """\
import threading

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)


@tf.function
def turns(x, trips):
    for _ in tf.range(trips):
        with tf.device("CPU:1"):
            x = tf.tanh(x)  # line 13
    return x


def call():
    for _ in range(200):
        turns(tf.ones((4, 4)), tf.constant(7))


turns(tf.ones((4, 4)), tf.constant(7))
threads = [threading.Thread(target=call) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def test_calls_of_one_function_in_threads_are_told_apart(
    hopscope_home: Path, tf_python: Path, tmp_path: Path
) -> None:
    run = record(tf_python, written(tmp_path, THREADS))
    (count,) = {row[3] for row in run.hops("site", "src", "dst", "count") if row[0] == "script.py:13"}
    assert count == pytest.approx(801 * 7, rel=0.02)


PROFILED = """\
import sys

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)


@tf.function
def turns(x):
    for _ in tf.range(3):
        with tf.device("CPU:1"):
            x = tf.tanh(x)
    return x


for _ in range(5):
    tf.profiler.experimental.start(sys.argv[1])
    for _ in range(20):
        turns(tf.ones((4, 4)))
    tf.profiler.experimental.stop()
    turns(tf.ones((4, 4)))
"""


def test_the_users_own_profile_is_left_alone(hopscope_home: Path, tf_python: Path, tmp_path: Path) -> None:
    run = record(tf_python, written(tmp_path, PROFILED), str(tmp_path / "profile"))
    assert run.run.state == "finished", run.log[-2000:]
    planes = list((tmp_path / "profile").rglob("*.xplane.pb"))
    assert len(planes) >= 1
    assert all(b"turns" in plane.read_bytes() for plane in planes)
    assert {count for (count,) in run.hops("count", dst="cpu:1")} == {105 * 3}


LONG = """\
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)


@tf.function
def turns(x, trips):
    for _ in tf.range(trips):
        with tf.device("CPU:1"):
            x = tf.tanh(x)
    return x


turns(tf.ones((4, 4)), tf.constant(60_000))
"""


def test_a_call_too_long_to_be_observed_has_no_count_and_the_report_says_why(
    hopscope_home: Path, tf_python: Path, tmp_path: Path
) -> None:
    run = record(tf_python, written(tmp_path, LONG))
    assert set(run.hops("count", "basis", dst="cpu:1")) == {(None, "unknown")}
    (row,) = run.report["unseen"]
    assert row["what"] == "executions of hops inside loops and branches"
    assert "--exact" in row["why"]


FORKS = """\
import ctypes
import os
import threading

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)


@tf.function
def turns(x, trips):
    for _ in tf.range(trips):
        with tf.device("CPU:1"):
            x = tf.tanh(x)
    return x


with open("/proc/self/maps") as maps:
    library = ctypes.CDLL({line.split()[-1] for line in maps if "libtensorflow_framework" in line}.pop())
level = ctypes.c_int.in_dll(library, "_ZN3tsl8profiler8internal13g_trace_levelE")
seen = set()
thread = threading.Thread(target=lambda: [turns(tf.ones((4, 4)), tf.constant(300)) for _ in range(200)])
thread.start()
while thread.is_alive():
    on = level.value >= 0
    child = os.fork()
    if child == 0:
        os._exit(level.value + 1)
    seen.add((on, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])))
print("in children", {status for _, status in seen})
"""


def test_no_window_stays_open_in_a_forked_child(hopscope_home: Path, tf_python: Path, tmp_path: Path) -> None:
    run = record(tf_python, written(tmp_path, FORKS))
    assert "in children {0}" in run.log, run.log[-2000:]


CLOSES = """\
import os
import sys

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)


@tf.function
def turns(x):
    for _ in tf.range(3):
        with tf.device("CPU:1"):
            x = tf.tanh(x)
    return x


turns(tf.ones((4, 4)))
mine = [name for name in os.listdir("/proc/self/fd") if os.path.islink(f"/proc/self/fd/{name}")]
for name in mine:
    if int(name) > 2 and os.readlink(f"/proc/self/fd/{name}").endswith(".stderr"):
        os.close(int(name))
files = [open(os.path.join(sys.argv[1], f"file-{n}"), "w+b") for n in range(8)]
for file in files:
    file.write(b"x" * 10_000)
    file.flush()
for _ in range(50):
    turns(tf.ones((4, 4)))
for file in files:
    file.close()
"""


def test_a_script_that_closes_the_exact_modes_descriptors_keeps_its_files(
    hopscope_home: Path, tf_python: Path, tmp_path: Path
) -> None:
    run = record(tf_python, written(tmp_path, CLOSES), str(tmp_path), exact=True)
    assert run.run.state == "finished", run.log[-2000:]
    for number in range(8):
        assert (tmp_path / f"file-{number}").read_bytes() == b"x" * 10_000
    assert {count for (count,) in run.hops("count", dst="cpu:1")} == {None}
    assert any("descriptors" in row["why"] for row in run.report["unseen"])
