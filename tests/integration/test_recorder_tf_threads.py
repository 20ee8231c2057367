"""Functions that several threads call for the first time at once: the runtime exports their graphs as one."""

from __future__ import annotations

from pathlib import Path

from tests.integration.recording import SCRIPTS, record

WAY = ("src", "dst", "bytes", "count")


def test_each_threads_calls_are_counted_and_nothing_goes_unseen(tf_python: Path, hopscope_home: Path) -> None:
    recorded = record(tf_python, SCRIPTS / "first_calls.py")
    assert recorded.run.state == "finished", recorded.log[-2000:]
    assert recorded.report["unseen"] == []
    inside = {"src": "cpu:1", "dst": "cpu:2"}
    assert recorded.hops(*WAY, **inside, site="first_calls.py:17") == [("cpu:1", "cpu:2", 2048, 80)]
    assert recorded.hops(*WAY, **inside, site="first_calls.py:25") == [("cpu:1", "cpu:2", 256, 80)]
