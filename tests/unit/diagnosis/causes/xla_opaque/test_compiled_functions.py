"""Functions run without XLA."""

from __future__ import annotations

import pytest

from tests.unit.fixes.fix_cases import fixed, proposed

TF = "import tensorflow as tf\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "@tf.function(jit_compile=True)\ndef f(x):\n    return x + 1  #!\n",
            "@tf.function(jit_compile=False)\ndef f(x):\n    return x + 1\n",
        ),
        (
            "@tf.function(  #!\n    jit_compile=True,\n)\ndef f(x):\n    return x\n"
            "@tf.function(jit_compile=True)\ndef g(x): return x\n",
            "@tf.function(\n    jit_compile=False,\n)\ndef f(x):\n    return x\n"
            "@tf.function(jit_compile=True)\ndef g(x): return x\n",
        ),
        (
            "g = tf.function(f, jit_compile=args.xla)\ng(1)  #!\n",
            "g = tf.function(f, jit_compile=False)\ng(1)\n",
        ),
        ("a = tf.function(f, jit_compile=True)\nb = tf.function(g, jit_compile=True)\na(1)  #!\n", None),
        ("model.fit(x)  #!\n", None),
    ],
)
def test_without_xla(before: str, after: str | None) -> None:
    assert fixed("xla-opaque", TF + before) == (None if after is None else TF + after)


@pytest.mark.parametrize(
    ("ignored", "words"), [((), "change it back after"), (("cpu:2",), "compile one function for each device")]
)
def test_xla_comes_back_where_no_scope_was_ignored(ignored: tuple[str, ...], words: str) -> None:
    text = f"{TF}@tf.function(jit_compile=True)\ndef f(x):\n    return x\nf(1)  #!\n"
    found = proposed("xla-opaque", text, not_followed=list(ignored))[1]
    assert found is not None
    assert words in found.words
