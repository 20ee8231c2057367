"""What a library takes a value for, by the frames between it and the user's own code."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from probes.tf.syncs import purpose_of
from probes.trace.hop import ASSERTION, GRADIENTS, LOGS

USERS = "/home/me/train.py"
TRAINER = "/venv/keras/src/backend/tensorflow/trainer.py"
RECORDING: Any = SimpleNamespace(sites=SimpleNamespace(is_user=lambda file: file == USERS))
BACKPROP = ("/venv/tensorflow/python/eager/backprop.py", "_gradient_function")
UTILS = "/venv/keras/src/utils/tf_utils.py"
ASSERTS = "/venv/tensorflow/python/ops/check_ops.py"


def purpose(*frames: tuple[str, str]) -> str:
    """Of a value taken below functions of these files and names, the outermost first."""
    inner: Any = lambda: purpose_of(RECORDING, sys._getframe(1))  # noqa: E731
    for file, name in reversed(frames):
        scope: dict[str, Any] = {"inner": inner}
        exec(compile(f"def {name}():\n    return inner()\n", file, "exec"), scope)
        inner = scope[name]
    return str(inner())


MAIN, ASSERT = (USERS, "main"), (ASSERTS, "_binary_assert")
TRAIN, LOGGED = (TRAINER, "train_on_batch"), (TRAINER, "pythonify_logs")


@pytest.mark.parametrize(
    ("frames", "told"),
    [
        ([MAIN, TRAIN, LOGGED], "train_on_batch"),
        ([MAIN, (TRAINER, "test_on_batch"), (UTILS, "sync_to_numpy_or_python_type")], "test_on_batch"),
        # Logs inside logs are taken by the same function again.
        ([MAIN, TRAIN, LOGGED, LOGGED], "train_on_batch"),
        ([MAIN, (TRAINER, "fit"), LOGGED], LOGS),
        # In a library's own loop the code has no call that it could leave out.
        ([MAIN, ("/venv/agents/dqn.py", "learn"), TRAIN, LOGGED], LOGS),
        ([MAIN, ASSERT], ASSERTION),
        ([MAIN, BACKPROP, ASSERT], GRADIENTS),
        ([MAIN, (TRAINER, "fit"), (USERS, "on_batch_end")], ""),
    ],
)
def test_what_a_value_is_taken_for(frames: list[tuple[str, str]], told: str) -> None:
    assert purpose(*frames) == told
