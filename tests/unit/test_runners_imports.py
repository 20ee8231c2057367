"""Telling a script's framework from its text."""

from __future__ import annotations

from pathlib import Path

import pytest

from runners.imports import framework_of, module_file


@pytest.mark.parametrize(
    ("text", "framework"),
    [
        ("import tensorflow as tf", "tensorflow"),
        ("from tensorflow.keras import layers", "tensorflow"),
        ("import os, keras", "tensorflow"),
        ("def f():\n    from mxnet import gluon", "mxnet"),
        ("try:\n    import mxnet\nexcept ImportError:\n    import tensorflow", "mxnet"),
        ("import tensorflow_probability", None),
        ("from . import tensorflow", None),
        ("# import tensorflow\n'import mxnet'", None),
        ("import tensorflow as tf\nprint 'two'", None),
        ("\0", None),
        ("", None),
    ],
)
def test_the_first_import_of_a_framework_counts(tmp_path: Path, text: str, framework: str | None) -> None:
    script = tmp_path / "script.py"
    script.write_text(text)
    assert framework_of(script) == framework


def test_other_encodings_are_read(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_bytes("# coding: latin-1\nname = 'é'\nimport mxnet".encode("latin-1"))
    assert framework_of(script) == "mxnet"


def test_what_cannot_be_read_names_none(tmp_path: Path) -> None:
    assert framework_of(tmp_path / "missing.py") is None
    assert framework_of(tmp_path) is None


def test_a_modules_file_is_found_where_it_would_run(tmp_path: Path) -> None:
    package = tmp_path / "pack" / "age"
    package.mkdir(parents=True)
    (package / "__main__.py").touch()
    (tmp_path / "pack" / "one.py").touch()
    assert module_file("pack.age", tmp_path) == package / "__main__.py"
    assert module_file("pack.one", tmp_path) == tmp_path / "pack" / "one.py"
    assert module_file("pack", tmp_path) is None
