"""A wait stays where the clock is read after it: without it only the giving out of work would be timed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.fixes.fix_cases import fixed, hop, said

MX = "import contextlib\nimport time\nimport mxnet as mx\nfrom mxnet import nd\n"
TF = "import time\nimport tensorflow as tf\n"

MANAGER = """\
@contextlib.contextmanager
def timed(seconds):
    start = time.perf_counter()
    yield
    nd.waitall()  #!
    seconds.append(time.perf_counter() - start)

for x in data:
    with timed(seconds):
        step(x)
"""
IN_THE_BLOCK = """\
class Timer:
    def __enter__(self):
        self.start = time.monotonic()

    def __exit__(self, *why):
        print(time.monotonic() - self.start)

for x in data:
    with Timer():
        step(x)
        nd.waitall()  #!
"""
DECORATED = """\
def timed(function):
    def inner(*args):
        start = time.time()
        result = function(*args)
        print(time.time() - start)
        return result
    return inner

@timed
def train(x):
    out = step(x)
    out.wait_to_read()  #!
    return out

for x in data:
    train(x)
"""
IN_FINALLY = """\
for x in data:
    start = time.time()
    try:
        step(x)
        nd.waitall()  #!
    finally:
        print(time.time() - start)
"""
BY_THE_CALLER = """\
from time import perf_counter as now

def train(x):
    step(x)
    nd.waitall()  #!

for x in data:
    start = now()
    train(x)
    print(now() - start)
"""
BY_A_METHOD = """\
class Watch:
    def lap(self):
        self.laps.append(time.process_time())

watch = Watch()
for x in data:
    step(x)
    nd.waitall()  #!
    watch.lap()
"""
NEXT_ROUND = "for x in data:\n    start = time.time()\n    step(x)\n    nd.waitall()  #!\n"
ALIASED = """\
clock = time.perf_counter
for x in data:
    step(x)
    nd.waitall()  #!
    took = clock() - begun
"""
DATED = """\
from datetime import datetime
for x in data:
    begun = datetime.now()
    step(x)
    nd.waitall()  #!
    print(datetime.now() - begun)
"""
PROFILED = "for x in data:\n    step(x)\n    nd.waitall()  #!\n    mx.profiler.pause()\n"
BEGUN_AFTER_IT = "for x in data:\n    nd.waitall()  #!\n    start = time.time()\n    step(x)\n"


@pytest.mark.parametrize(
    ("text", "clock"),
    [
        (MANAGER, "time.perf_counter at train.py:10 "),
        (IN_THE_BLOCK, "Timer at train.py:13 "),
        (DECORATED, "timed at train.py:13 "),
        (IN_FINALLY, "time.time at train.py:11 "),
        (BY_THE_CALLER, "now at train.py:14 "),
        (BY_A_METHOD, "watch.lap at train.py:13 "),
        (ALIASED, "clock at train.py:9 "),
        (DATED, "datetime.now at train.py:10 "),
        (PROFILED, "mx.profiler.pause at train.py:8 "),
        (NEXT_ROUND, "time.time at train.py:6 "),
        (BEGUN_AFTER_IT, "time.time at train.py:7 "),
    ],
)
def test_a_wait_for_the_clock_is_not_taken_out(text: str, clock: str) -> None:
    known: dict[str, Any] = {"framework": "mxnet", "kind": "waitall", "takes": False}
    assert fixed("host-sync", MX + text, **known) is None
    words = said("host-sync", MX + text, **known) or ""
    assert words.startswith(clock) and "time several steps between two waits" in words


def test_one_wait_before_the_clock_is_enough_after_a_loop() -> None:
    text = (
        "start = time.time()\nfor x in data:\n    step(x)\n    nd.waitall()  #!\nprint(time.time() - start)\n"
    )
    assert fixed("host-sync", MX + text, framework="mxnet", kind="waitall", takes=False) is None
    words = said("host-sync", MX + text, framework="mxnet", kind="waitall", takes=False) or ""
    assert words.startswith("time.time at train.py:9 takes the time after it")


@pytest.mark.parametrize(
    "text",
    [
        "start = time.time()\nfor x in data:\n    step(x)\n    nd.waitall()  #!\n",
        "for x in data:\n    step(x)\n    nd.waitall()  #!\n    time.sleep(0.1)\n",
    ],
)
def test_what_times_nothing_keeps_no_wait(text: str) -> None:
    made = fixed("host-sync", MX + text, framework="mxnet", kind="waitall", takes=False)
    assert made is not None and "waitall" not in made


FETCHED = """\
total = 0.0
for x in data:
    start = time.time()
    total += float(step(x))  #!
    print("speed", 32 / (time.time() - start))
print(total)
"""
SYNCED = """\
for x in data:
    start = time.time()
    step(x)
    tf.experimental.sync_devices()  #!
    print(time.time() - start)
"""


def test_a_value_taken_before_the_clock_in_each_round_is_taken_seldom_with_it() -> None:
    pull = hop("host-sync", each=1.0)
    assert fixed("host-sync", TF + FETCHED, hops=(pull,), taken_by="float") is None
    words = said("host-sync", TF + FETCHED, hops=(pull,), taken_by="float") or ""
    assert words.startswith("time.time at train.py:7 ") and "every so many steps" in words


def test_a_wait_of_tensorflow_for_the_clock_is_not_taken_out() -> None:
    known: dict[str, Any] = {"kind": "sync_devices", "takes": False}
    assert fixed("host-sync", TF + SYNCED, **known) is None
    assert "between two waits" in (said("host-sync", TF + SYNCED, **known) or "")


@pytest.mark.parametrize(
    "text",
    [
        "start = time.time()\nfor x in data:\n    print(float(loss), time.time() - start)  #!\n",
        "start = time.time()\ntotal = 0.0\nfor x in data:\n    total += float(step(x))  #!\n"
        "print(total, time.time() - start)\n",
        "total = 0.0\nfor x in data:\n    a = time.time()\n    y = step(x)\n    print(time.time() - a)\n"
        "    total += float(y)  #!\nprint(total)\n",
    ],
)
def test_a_value_that_no_time_waits_for_is_taken_once_after_the_loop(text: str) -> None:
    assert fixed("host-sync", TF + text, hops=(hop("host-sync", each=1.0),), taken_by="float") is not None
