"""A program is added to a copy of this clone as CONTRIBUTING.md says, in no other files, and then runs."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAME = "mx-counting"
TRAIN = '''"""Counts, and says so."""

import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[2] / "helpers"))

from shared import command, progress


def options() -> command.Parser:
    """The command line."""
    parser = command.parser("mx-counting", __doc__)
    parser.add_argument("--by", type=command.positive, default=1, metavar="N", help="how many at a time")
    return parser


def main() -> None:
    """Count."""
    args = command.parse(options())
    watch = progress.Progress(args.steps, 1)
    for step in range(1, args.steps + 1):
        watch.report(step)
    print(f"verdict holds: counted to {args.steps * args.by}", flush=True)


if __name__ == "__main__":
    main()
'''
ABOUT = '''"""mx-counting in the catalogue."""

from __future__ import annotations

from pathlib import Path

from runners.program import Option, Program, Variant
from runners.programs.options import SEED

PROGRAM = Program(
    name="mx-counting",
    framework="mxnet",
    title="Counting",
    summary="Counts",
    script=Path(__file__).with_name("train.py"),
    options=(SEED, Option("by", "how many at a time", 1, type="count")),
    min_devices=1,
    max_devices=None,
    default_devices=1,
    claim="It counts.",
    variants=(Variant("by-two", {"by": 2}, steps=3),),
    advice="Count.",
)
'''
CHECK = '''"""The check of the claim of mx-counting."""

from __future__ import annotations

from collections.abc import Mapping

from runners.programs.evidence import Shown, said
from runners.programs.verdicts import UNTESTABLE, Verdict


def check(shown: Mapping[str, Shown]) -> list[Verdict]:
    """What it said, and that nothing was looked for."""
    return [*said(shown), Verdict(UNTESTABLE, "counting has no device")]
'''


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of this clone's code, to which the program was added."""
    copy = tmp_path_factory.mktemp("clone")
    for package in ("app", "hopscope", "pages", "probes", "runners"):
        shutil.copytree(ROOT / package, copy / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "requirements.txt", copy)
    before = files(copy)
    folder = copy / "runners" / "programs" / "mxnet" / "counting"
    folder.mkdir()
    (folder / "train.py").write_text(TRAIN)
    (folder / "about.py").write_text(ABOUT)
    (folder / "check.py").write_text(CHECK)
    catalogue = copy / "runners" / "catalogue.py"
    catalogue.write_text(
        catalogue.read_text().replace("FOLDERS = (\n", 'FOLDERS = (\n    "mxnet.counting",\n')
    )
    changed = {path for path, content in files(copy).items() if before.get(path) != content}
    assert changed == recipe("mxnet", "counting")
    return copy


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.py")}


def recipe(framework: str, program: str) -> set[str]:
    """The files of the product that CONTRIBUTING.md names for a new program."""
    text = (ROOT / "CONTRIBUTING.md").read_text().partition("## Add a program\n")[2].partition("\n## ")[0]
    named = re.findall(r"(?m)^\d+\. `([^`]+)`", text)
    found = {name.replace("<framework>", framework).replace("<program>", program) for name in named}
    return {name for name in found if not name.startswith("tests/")}


def command(clone: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "app", *words],
        cwd=clone,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_the_catalogue_has_it(clone: Path) -> None:
    listed = json.loads(command(clone, "programs", "--json"))["programs"]
    assert (listed[0]["name"], listed[0]["title"]) == (NAME, "Counting")
    assert [option["name"] for option in listed[0]["options"]] == ["seed", "by"]
    alone = subprocess.run(
        [sys.executable, "-I", "-", "--stand-ins", "1", "--steps", "2", "--by", "3"],
        input=command(clone, "programs", NAME, "--source"),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "verdict holds: counted to 6" in alone.stdout


def test_it_runs_and_its_lesson_is_judged(
    clone: Path, hopscope_home: Path, mx_python: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOPSCOPE_MXNET", str(mx_python.parents[1]))
    shown = command(clone, "demo", NAME, "--stand-ins", "1", "--steps", "3", "--set", "by=2")
    assert "step 3/3 " in shown
    assert "verdict holds: counted to 6" in shown
    command(clone, "lessons", NAME, "--run")
    [lesson] = json.loads(command(clone, "lessons", NAME, "--json"))["lessons"]
    assert (lesson["program"], lesson["advice"]) == (NAME, "Count.")
    found = [(verdict["verdict"], verdict["text"]) for verdict in lesson["verdicts"]]
    assert found == [("holds", "counted to 6"), ("not testable here", "counting has no device")]
