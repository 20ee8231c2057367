"""Devices are written as the file's own constants, however these are assigned."""

from __future__ import annotations

import ast

import pytest

from app.fixes.code.device_notation import mx_context, tf_device
from app.fixes.code.parsed_source import Source

TF = "import tensorflow as tf\n"


def written(text: str) -> str | None:
    """What stands for gpu:1 in the file's last statement."""
    source = Source(TF + text + "f(x)\n")
    return tf_device(source, source.tree.body[-1], "gpu:1")


@pytest.mark.parametrize(
    ("made", "code"),
    [
        ('DEV = "/GPU:1"\n', "DEV"),
        ('DEV: str = "gpu:1"\n', "DEV"),
        ('G, D = "/GPU:0", "/GPU:1"\n', "D"),
        ('[G, D] = ("/GPU:0", "/GPU:1")\n', "D"),
        ('DEVICES = ["/GPU:0", "/GPU:1"]\n', "DEVICES[1]"),
        ('DEVICES = {"body": "/GPU:0", "head": "/GPU:1"}\n', 'DEVICES["head"]'),
        ('def f():\n    with tf.device("/device:GPU:0"):\n        y\nD = "/GPU:1"\n', "D"),
        # What may be something else.
        ('D = "/GPU:1"\nD = g()\n', '"/GPU:1"'),
        ('G, D = "/GPU:0", "/GPU:1"\nD = g()\n', '"/GPU:1"'),
        ('G, *D = "/GPU:0", "/GPU:1"\n', '"/GPU:1"'),
        ('DEVICES = ["/GPU:0", "/GPU:1"]\nDEVICES.reverse()\n', '"/GPU:1"'),
        ('DEVICES = {"head": "/GPU:1", **more}\n', '"/GPU:1"'),
        ('def f():\n    D = "/GPU:1"\n', '"/GPU:1"'),
        ('with tf.device("GPU:0"):\n    y\n', '"GPU:1"'),
    ],
)
def test_a_constant_that_names_the_device_is_used(made: str, code: str) -> None:
    """Bug: "/GPU:1" was written out where the file has `G, D = "/GPU:0", "/GPU:1"`."""
    assert written(made) == code


def test_a_constant_below_is_none_yet() -> None:
    source = Source(f'{TF}f(x)\nG, D = "/GPU:0", "/GPU:1"\n')
    assert tf_device(source, source.tree.body[1], "gpu:1") == '"/GPU:1"'


def test_a_constant_of_a_scope_comes_before_others() -> None:
    scope = "def f():\n    with tf.device(B[0]):\n        y\n"
    assert written(f'A = "/GPU:1"\nB = ["/GPU:1"]\n{scope}') == "B[0]"
    assert written(f'A = "/GPU:1"\nB = ["/GPU:1"]\n{scope}B.append(0)\n') == "A"


@pytest.mark.parametrize(
    ("made", "code"),
    [
        ("A, B = mx.gpu(0), mx.gpu(1)\n", "B"),
        ("ctxs = [mx.gpu(0), mx.gpu(1)]\n", "ctxs[1]"),
        ("B = mx.gpu(1)\n", "B"),
        ("ctxs = [mx.gpu(0), mx.gpu(1)]\nctxs[1] = mx.cpu()\n", "mx.gpu(1)"),
    ],
)
def test_contexts_too(made: str, code: str) -> None:
    source = Source(f"import mxnet as mx\n{made}f(x)\n")
    assert isinstance(source.tree.body[-1], ast.Expr)
    assert mx_context(source, source.tree.body[-1], "gpu:1") == code
