"""What stays of a trace when its process is killed, forks, or never says goodbye."""

from __future__ import annotations

import os
import signal
from contextlib import closing
from pathlib import Path

from app.reports.run_report import run_report
from app.store.run import open_run
from runners.plan import launcher
from runners.plan.plan import LaunchOptions
from runners.plan.script_plan import plan_script
from runners.runs import registry
from tests.integration.recording import LIMIT_S, record, written
from tests.integration.waiting import until

HOLDS_THE_INTERPRETER = """
import os, re, sys
import tensorflow as tf

@tf.function
def double(x):
    return x * 2.0

x = tf.ones([4])
for _ in range(1000):
    double(x)
tf.add(x, 1.0)
open(sys.argv[1], "w").close()
re.match(r"(a+)+b", "a" * 64)  # a C call of hours that never lets another thread run
"""

FORKS = """
import os, sys
import tensorflow as tf

tf.add(tf.ones([2]), 1.0)
child = os.fork()
if child == 0:
    tf.multiply(tf.ones([3]), 3.0)
    os._exit(0)
_, status = os.waitpid(child, 0)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def test_a_kill_inside_a_call_that_holds_the_interpreter_loses_nothing(
    tf_python: Path, hopscope_home: Path, tmp_path: Path
) -> None:
    """GIVEN a thousand calls, then a C call that blocks every thread, WHEN killed -9, THEN all are there."""
    ready = tmp_path / "ready"
    script = written(tmp_path, HOLDS_THE_INTERPRETER)
    run = launcher.launch(
        plan_script(
            [str(script), str(ready)], framework="tensorflow", launch=LaunchOptions(python=str(tf_python))
        )
    )
    try:
        until(lambda: ready.exists() or run.reload().ended, LIMIT_S)
        assert ready.exists(), run.log.read_text()[-2000:]
        pid = run.reload().status["pid"]
        os.kill(pid, signal.SIGKILL)
        run = registry.wait(run, LIMIT_S)
    finally:
        registry.stop(run)
    assert run.state == "failed"
    with closing(open_run(run.path)) as store:
        (call,) = [key for key in store.keys("call") if key.fields["function"] == "double"]
        assert call.count == 1000
        assert "AddV2" in {key.fields["op"] for key in store.keys("op")}
        (process,) = store.processes()
        assert process.ended is False


def test_a_forked_child_has_a_trace_of_its_own(tf_python: Path, hopscope_home: Path, tmp_path: Path) -> None:
    recorded = record(tf_python, written(tmp_path, FORKS))
    assert recorded.run.exit_code == 0, recorded.log[-2000:]
    with closing(open_run(recorded.run.path)) as store:
        processes = {p.header["process"]: p for p in store.processes()}
        assert sorted(processes) == ["fork", "main"]
        in_child = {
            key.fields["op"]
            for key in store.keys("op")
            if key.id >> 32 == processes["fork"].index and key.count
        }
    assert "Mul" in in_child
    assert "AddV2" not in in_child
    assert run_report(recorded.run.path)["status"] == "finished"
