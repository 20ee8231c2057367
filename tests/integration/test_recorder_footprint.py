"""A recorded program sees the interpreter that it would have seen, and TensorFlow starts as late as ever."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from runners.supervise.ports import free_ports
from tests.integration.recording import record, written

LOOKS_AROUND = """
import json, os, sys
import tensorflow as tf
from tensorflow.python.eager import context

early = context.context()._initialized if context._context is not None else False
shadowed = [name for name in ("app", "probes", "tests", "runners") if name in sys.modules]
print("LOOKED", json.dumps({
    "path": sys.path, "argv": sys.argv, "main": sys.modules["__main__"].__file__,
    "name": __name__, "shadowed": shadowed, "early": bool(early),
}))
"""

MULTI_WORKER = """
import json, os, sys
os.environ["TF_CONFIG"] = json.dumps(
    {"cluster": {"worker": [f"127.0.0.1:{sys.argv[1]}"]}, "task": {"type": "worker", "index": 0}}
)
import tensorflow as tf

strategy = tf.distribute.MultiWorkerMirroredStrategy()
print("REPLICAS", strategy.num_replicas_in_sync)
"""


def looked(log: str) -> dict[str, object]:
    (line,) = [line for line in log.splitlines() if line.startswith("LOOKED ")]
    found: dict[str, object] = json.loads(line.removeprefix("LOOKED "))
    return found


def test_path_arguments_and_main_are_untouched(tf_python: Path, hopscope_home: Path, tmp_path: Path) -> None:
    script = written(tmp_path, LOOKS_AROUND)
    recorded = record(tf_python, script, "--epochs", "3")
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    command = [str(tf_python), str(script), "--epochs", "3"]
    plain = subprocess.run(command, env=env, capture_output=True, text=True, check=True, timeout=120)
    assert looked(recorded.log) == looked(plain.stdout)
    assert looked(recorded.log)["shadowed"] == []
    assert looked(recorded.log)["early"] is False


def test_a_strategy_that_must_come_first_still_can(
    tf_python: Path, hopscope_home: Path, tmp_path: Path
) -> None:
    """MultiWorkerMirroredStrategy refuses to start once the eager context is up."""
    port = free_ports(["worker"])["worker"]
    recorded = record(tf_python, written(tmp_path, MULTI_WORKER), str(port))
    assert recorded.run.state == "finished", recorded.log[-2000:]
    assert "REPLICAS 1" in recorded.log


@pytest.mark.parametrize("name", ["app.py", "probes.py"])
def test_a_users_module_of_our_names_is_the_one_imported(
    tf_python: Path, hopscope_home: Path, tmp_path: Path, name: str
) -> None:
    written(tmp_path, "WHOSE = 'mine'\n", name)
    text = f"import tensorflow as tf\nimport {name[:-3]} as m\nprint('WHOSE', m.WHOSE)\n"
    recorded = record(tf_python, written(tmp_path, text))
    assert "WHOSE mine" in recorded.log, recorded.log[-2000:]
