"""Telling a script's framework from its text."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from runners.plan.imports import framework_of, module_file


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


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        file = folder / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


@pytest.mark.parametrize(
    ("files", "framework"),
    [
        ({"train": "import model", "model": "import mxnet"}, "mxnet"),
        ({"train": "from nets import model", "nets/model": "import mxnet"}, "mxnet"),
        ({"train": "import nets.deep.model", "nets/deep/model": "from mxnet import gluon"}, "mxnet"),
        ({"train": "import nets", "nets/__init__": "from . import a", "nets/a": "import mxnet"}, "mxnet"),
        (
            {"train": "import nets.a", "nets/a": "from ..other import b", "other/b": "import keras"},
            "tensorflow",
        ),
        ({"train": "import a, b", "a": "import b", "b": "import a"}, None),
        ({"train": "import model\nimport mxnet", "model": "import tensorflow"}, "mxnet"),
        ({"train": "import missing"}, None),
    ],
)
def test_the_scripts_own_modules_count_after_itself(
    tmp_path: Path, files: dict[str, str], framework: str | None
) -> None:
    write(tmp_path, files)
    assert framework_of(tmp_path / "train.py") == framework


def test_a_folders_script_and_a_modules_root(tmp_path: Path) -> None:
    write(tmp_path, {"pack/__main__": "from pack import net", "pack/net": "import mxnet"})
    assert framework_of(tmp_path / "pack") is None
    assert framework_of(tmp_path / "pack" / "__main__.py", tmp_path) == "mxnet"
    write(tmp_path, {"pack/__main__": "import net"})
    assert framework_of(tmp_path / "pack") == "mxnet"


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


def test_a_module_whose_name_no_file_can_have_is_not_looked_into(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(f"import {'x' * 300}\nfrom . import {'y' * 300}\nimport mxnet\n")
    assert framework_of(script) == "mxnet"


def test_a_module_of_such_a_name_is_found_nowhere(tmp_path: Path) -> None:
    assert module_file("x" * 300, tmp_path) is None


def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    """`run /dev/zero` took all of the machine's memory, a FIFO was waited for."""
    os.mkfifo(tmp_path / "fifo")
    for path in (Path("/dev/zero"), tmp_path / "fifo", tmp_path):
        assert framework_of(path) is None
