"""A program as one file: whole, plain, and without a name of this project's modules in it."""

from __future__ import annotations

import ast
import csv
import gzip
import io
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from app.cli import dispatch
from runners import catalogue
from runners.errors import UsageError
from runners.export import one_file, program_parts
from runners.export.short_definitions import shortened
from runners.program import HELPERS
from runners.programs.helpers.shared import digit_files

FRAMEWORKS = {"tensorflow": {"tensorflow", "tf_keras"}, "mxnet": {"mxnet"}}
OPTIONAL = {"sklearn"}
"""Imported only where the digits are not beside the file."""


def imported(tree: ast.Module) -> set[str]:
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            names.add((node.module or "").partition(".")[0])
    return names


@pytest.mark.parametrize("name", catalogue.PROGRAMS)
def test_it_needs_the_framework_and_numpy_alone(name: str) -> None:
    source = one_file.one_file(name)
    tree = ast.parse(source, feature_version=(3, 9))
    program = catalogue.PROGRAMS[name]
    libraries = imported(tree) - sys.stdlib_module_names
    assert libraries <= FRAMEWORKS[program.framework] | OPTIONAL | {"numpy"}
    assert ast.get_docstring(tree) == ast.get_docstring(ast.parse(program.script.read_text()))
    assert source.startswith('"""')
    assert source.endswith('\n\n\nif __name__ == "__main__":\n    main()\n')
    assert "type: ignore" not in source


def test_no_name_is_undefined_unused_or_defined_twice(tmp_path: Path) -> None:
    for name in catalogue.PROGRAMS:
        (tmp_path / one_file.file_name(name)).write_text(one_file.one_file(name))
    command = [
        sys.executable,
        "-m",
        "ruff",
        "check",
        "--isolated",
        "--no-cache",
        "--select",
        "F,E9",
        str(tmp_path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_only_what_is_used_is_copied() -> None:
    source = one_file.one_file("mx-copy")
    defined = {getattr(node, "name", None) for node in ast.parse(source).body}
    assert {"main", "judge", "Progress", "verdict_say", "add_size"} <= defined
    assert not defined & {"add_training", "load_kept", "add_sizes", "say_longer"}


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of programs of our own, with a shared module."""
    monkeypatch.setattr(program_parts, "HELPERS", tmp_path)
    (tmp_path / "shared").mkdir()
    (tmp_path / "mine").mkdir()
    return tmp_path


def assembled(folder: Path, shared: str, script: str) -> str:
    (folder / "shared" / "tools.py").write_text(f'"""Tools."""\n\n{shared}')
    path = folder / "mine" / "go.py"
    path.write_text(f'"""Go."""\n\nfrom shared import tools\nfrom shared.tools import Base\n\n{script}\n')
    return one_file.Assembly(path).text()


def test_what_only_a_checkout_needs_is_left_out() -> None:
    for name in catalogue.PROGRAMS:
        source = one_file.one_file(name)
        assert not [word for word in ("find_mnist", "_read_idx", "mnist_places") if word in source], name
    copied = one_file.one_file("tf-host-sync")
    assert '    options.add_argument("--stand-ins", type=command_positive, metavar="N")\n' in copied
    # The program's own are as they are written.
    assert 'help="steps between two losses that every-n reads (default: 10)"' in copied


def test_a_definition_is_shortened() -> None:
    source = '''def add(options, width):
    """Add them.

    All of them.
    """
    # These first.
    options.add_argument(
        "--width", type=int, default=width, help=f"units in a layer (default: {width})"
    )
    options.add_argument("--why", help="the quote in it's kept", default="it's")
    return """no
    documentation"""
'''
    assert shortened(source).splitlines() == [
        "def add(options, width):",
        '    """Add them."""',
        "    # These first.",
        '    options.add_argument("--width", type=int, default=width)',
        "    options.add_argument('--why', default=\"it's\")",
        '    return """no',
        '    documentation"""',
    ]
    long = 'class A:\n    """Told.\n\n    More.\n    """\n\n    def f(self):\n        x.add_argument({})\n'
    words = ", ".join(f"'{'y' * 20}{number}'" for number in range(5))
    wrapped = shortened(long.format(words)).splitlines()
    assert wrapped[:3] == ["class A:", '    """Told."""', ""]
    assert wrapped[4:] == ["        x.add_argument(", "            " + words.replace("'", '"'), "        )"]


SHARED = '''
import math

# How much.
SIZE = 3
"""Of what."""


class Base:
    """What is inherited."""

    size = SIZE


def load():
    """Reads."""
    return math.pi


def add_all(values):
    """Adds."""
    return sum(values)
'''


def ran(source: str) -> dict[str, object]:
    names: dict[str, object] = {"__name__": "one"}
    exec(compile(source, "one.py", "exec"), names)
    return names


def test_what_is_needed_when_the_file_is_read_stands_first(programs: Path) -> None:
    source = assembled(
        programs, SHARED, "class Mine(Base):\n    pass\n\ndef main():\n    return tools.load()"
    )
    assert source.index("class Base") < source.index("class Mine") < source.index("def tools_load")
    assert '# How much.\nSIZE = 3\n"""Of what."""' in source
    assert "add_all" not in source
    names = ran(source)
    assert names["Mine"].size == 3  # type: ignore[attr-defined]
    assert round(names["main"](), 2) == 3.14  # type: ignore[operator]


def test_a_name_that_is_taken_keeps_its_modules(programs: Path) -> None:
    script = (
        "def main(add_all=1):\n    tools = {}\n    return tools, add_all\n\n"
        "def other():\n    return tools.add_all([1, 2])"
    )
    source = assembled(programs, SHARED, script)
    assert "return tools_add_all([1, 2])" in source
    assert "    tools = {}\n    return tools, add_all" in source, "a local name is not the module's"
    assert ran(source)["other"]() == 3  # type: ignore[operator]


def test_a_comprehension_hides_a_name_only_in_itself(programs: Path) -> None:
    script = "def main():\n    found = [SIZE for SIZE in range(2)]\n    return found, SIZE\n\nSIZE = 7"
    assert ran(assembled(programs, SHARED, script))["main"]() == ([0, 1], 7)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("def main():\n    return tools", "uses the module tools other than by module.name"),
        ("def main():\n    return missing", "uses missing, which is not known"),
        ("def main():\n    return tools.missing()", "shared.tools has no missing"),
    ],
)
def test_what_cannot_be_copied_is_told(programs: Path, script: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        assembled(programs, SHARED, script)


class TestCommand:
    def test_it_prints_the_file(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert dispatch.main(["programs", "mx-copy", "--source"]) == 0
        assert capsys.readouterr().out == one_file.one_file("mx-copy")

    def test_a_program_alone_can_be_listed(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert dispatch.main(["programs", "mx-copy", "--json"]) == 0
        (told,) = json.loads(capsys.readouterr().out)["programs"]
        assert told["name"] == "mx-copy"

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            ("--source", "--source prints one program: name it"),
            ("mx-copi --source", "did you mean mx-copy"),
            ("mx-copy --source --json", "leave one of them out"),
            ("mx-copy -o here", "-o goes with --source"),
        ],
    )
    def test_a_wrong_request(self, capsys: pytest.CaptureFixture[str], words: str, message: str) -> None:
        assert dispatch.main(["programs", *words.split()]) == 2
        assert message in capsys.readouterr().err

    def test_it_writes_the_file_with_the_digits_beside_it(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        folder = tmp_path / "new" / "one"
        words = ["programs", "tf-mirrored", "--source", "-o", str(folder)]
        assert dispatch.main(words) == 0
        names = ["tf_mirrored.py", "digits.csv.gz", "digits.ATTRIBUTION.txt"]
        assert capsys.readouterr().out.splitlines() == [str(folder / name) for name in names]
        assert (folder / names[0]).read_text() == one_file.one_file("tf-mirrored")
        assert (folder / names[1]).read_bytes() == (HELPERS / "shared" / names[1]).read_bytes()
        # Once more is no harm; what was changed since is kept.
        assert dispatch.main(words) == 0
        (folder / names[0]).write_text("mine")
        assert dispatch.main(words) == 2
        assert f"{folder / names[0]} is there already, and is another file" in capsys.readouterr().err
        assert (folder / names[0]).read_text() == "mine"

    def test_where_it_cannot_be_written(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        assert dispatch.main(["programs", "mx-copy", "--source", "-o", str(tmp_path / "file" / "x")]) == 1
        assert "cannot be written to: Not a directory" in capsys.readouterr().err

    def test_what_is_printed_alone_says_where_its_digits_come_from(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert dispatch.main(["programs", "tf-mirrored", "--source"]) == 0
        assert capsys.readouterr().err == (
            "hopscope: it reads digits.csv.gz beside it, or scikit-learn's; -o FOLDER writes both\n"
        )

    def test_an_unknown_program(self) -> None:
        with pytest.raises(UsageError, match="did you mean tf-mirrored"):
            one_file.one_file("tf-miror")


class TestDigits:
    """What a copied file does for its data."""

    @pytest.fixture
    def names(self, tmp_path: Path) -> dict[str, Any]:
        """The functions of a program's one file, in an empty folder."""
        names: dict[str, Any] = {"__name__": "one", "__file__": str(tmp_path / "one.py")}
        exec(compile(one_file.one_file("mx-gluon-params"), "one.py", "exec"), names)
        return names

    def test_without_the_file_those_of_scikit_learn_are_taken(
        self, names: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        kept = HELPERS / "shared" / "digits.csv.gz"
        with gzip.open(kept, "rt") as file:
            table = np.array([[float(cell) for cell in row] for row in csv.reader(file)])
        assert len(table) == digit_files.IMAGES["digits"]
        scikit = ModuleType("sklearn.datasets")
        # As the real one answers: pixels from 0 to 16, and the digits.
        scikit.load_digits = lambda return_X_y: (table[:, :-1], table[:, -1].astype(int))  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "sklearn", ModuleType("sklearn"))
        monkeypatch.setitem(sys.modules, "sklearn.datasets", scikit)
        images, labels, source = names["load_kept"]()
        shutil.copy(kept, tmp_path)
        own_images, own_labels, own_source = names["load_kept"]()
        assert np.array_equal(images, own_images)
        assert np.array_equal(labels, own_labels)
        assert (images.dtype, labels.dtype, source) == (own_images.dtype, own_labels.dtype, own_source)
        assert images.max() == 1

    def test_without_either_it_says_what_to_do(self, names: dict[str, Any], tmp_path: Path) -> None:
        names["find_spec"] = lambda name: None
        told = names["why_not_kept"]()
        assert told.startswith(f"there are no digits: digits.csv.gz has to be in {tmp_path}; ")
        assert "python3 -m app programs PROGRAM --source -o FOLDER writes it beside the program" in told


def test_a_download_has_what_the_program_needs() -> None:
    assert one_file.packed("mx-copy") == ("mx_copy.py", one_file.one_file("mx-copy").encode())
    name, content = one_file.packed("tf-mirrored")
    assert name == "tf-mirrored.zip"
    with zipfile.ZipFile(io.BytesIO(content)) as files:
        assert files.testzip() is None
        assert {Path(inside).name for inside in files.namelist()} == {
            "tf_mirrored.py",
            "digits.csv.gz",
            "digits.ATTRIBUTION.txt",
        }
        assert all(inside.startswith("tf-mirrored/") for inside in files.namelist())
