"""The programs of scripts/ and how each is run.

A program is one file. The first line of its docstring says what it uses. Comment lines of these forms may
stand anywhere in it:

    # frameworks: none tensorflow mxnet   one case each; `none` runs on this interpreter and records nothing
    # command: PYTHON -O SCRIPT           words of the command; `PYTHON SCRIPT` where it is not given;
    #                                     FOLDER is the scripts' folder, CLONE the tree that is tested
    # variables: NAME=VALUE ..            environment variables beside the usual ones
    # traces: no                          the recorder cannot come in, or the program ends before it writes
    # ignored: profile.json               files and folders whose contents differ from run to run
    # quick: none mxnet                   the cases that CI runs
"""

from __future__ import annotations

import ast
import dataclasses
import re
import shlex
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = Path(__file__).with_name("scripts")
FRAMEWORKS = ("none", "tensorflow", "mxnet")
_FORM = re.compile(r"^# (frameworks|command|variables|traces|ignored|quick)\b:? ?(.*)$", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Case:
    """One program on one framework."""

    script: Path
    framework: str
    uses: str
    """What it uses, in a line."""
    command: tuple[str, ...]
    """With PYTHON and SCRIPT for the interpreter and the program."""
    variables: tuple[tuple[str, str], ...]
    traced: bool
    """A recording is expected."""
    quick: bool
    ignored: tuple[str, ...] = ()
    """Files and folders that are not compared, as they stand in the working folder."""

    @property
    def name(self) -> str:
        """The program's name and the framework's: ``fork/mxnet``."""
        return f"{self.script.stem}/{self.framework}"

    def words(self, python: Path) -> list[str]:
        """The command of a run on this interpreter."""
        given = {
            "PYTHON": str(python),
            "SCRIPT": str(self.script),
            "FOLDER": str(self.script.parent),
            "CLONE": str(ROOT),
        }
        return [
            re.sub(r"\b(PYTHON|SCRIPT|FOLDER|CLONE)\b", lambda m: given[m[0]], word) for word in self.command
        ]


def read_cases(folder: Path = SCRIPTS) -> list[Case]:
    """All cases, by name."""
    found = [case for script in sorted(folder.glob("*.py")) for case in _read(script)]
    return sorted(found, key=lambda case: (FRAMEWORKS.index(case.framework), case.name))


def _read(script: Path) -> list[Case]:
    text = script.read_text(encoding="utf-8")
    forms = dict(_FORM.findall(text))
    if "frameworks" not in forms:
        return []  # a module that programs share
    docstring = ast.get_docstring(ast.parse(text)) or ""
    variables = [word.partition("=")[::2] for word in shlex.split(forms.get("variables", ""))]
    return [
        Case(
            script,
            framework,
            docstring.partition("\n")[0].rstrip("."),
            tuple(shlex.split(forms.get("command", "PYTHON SCRIPT"))),
            tuple(variables),
            framework != "none" and forms.get("traces") != "no",
            framework in forms.get("quick", "").split(),
            tuple(forms.get("ignored", "").split()),
        )
        for framework in forms["frameworks"].split()
    ]
