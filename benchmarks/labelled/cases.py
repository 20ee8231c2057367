"""The labelled set: scripts whose lines carry, as comments, what an expert would say of them.

    # expect: host-sync              a finding of this code at this line, as severe as the code is by default
    # expect: info host-sync         such a finding of any severity
    # may: host-upload               allowed here, not required
    # expect: host-sync, variable-home; may: bounce

A case is a file, or a folder with a main.py. Its docstring's first line says what goes on; a line
`case: NAME=VALUE ..` in it says how it is run, with the names in `_SETTINGS`.
"""

from __future__ import annotations

import ast
import dataclasses
import io
import re
import shlex
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from app.diagnosis.registry import SEVERITY
from app.judgments.severity import RANK

CASES = Path(__file__).resolve().parents[2] / "tests" / "labelled"
FRAMEWORKS = ("tensorflow", "mxnet")
_CLAUSE = re.compile(r"\b(expect|may):\s*([^;#]*)")
_SETTING_LINE = re.compile(r"^\s*case:\s*(.+)$", re.MULTILINE)
_SETTINGS = ("args", "module", "exit", "may", "exact", "preflight")


@dataclasses.dataclass(frozen=True)
class Label:
    """What a line is to be told of, or may be."""

    site: str
    """`helpers.py:12`, relative to the case's folder."""
    code: str
    least: str
    """The mildest severity that will do."""
    required: bool = True

    def __str__(self) -> str:
        mild = "info " if self.least == "info" and SEVERITY[self.code] != "info" else ""
        return f"{mild}{self.code} {self.site}"


@dataclasses.dataclass(frozen=True)
class Case:
    """A script and its labels."""

    name: str
    framework: str
    script: Path
    about: str
    """The docstring's first line."""
    labels: tuple[Label, ...]
    args: tuple[str, ...] = ()
    module: str = ""
    """Run as `-m module` from the case's folder, not as a script."""
    env: tuple[tuple[str, str], ...] = ()
    exit: int = 0
    """The status with which the script is to end."""
    may: tuple[str, ...] = ()
    """Codes allowed without a line or at any."""
    exact: bool = False
    preflight: bool = False

    @property
    def folder(self) -> Path:
        return self.script.parent

    @property
    def negative(self) -> bool:
        """There is nothing in it that anybody should be warned of."""
        return not any(label.required and label.least != "info" for label in self.labels)


class CaseError(ValueError):
    """A case that cannot be read: which, and what to mend."""


def read_cases(frameworks: Iterable[str] = FRAMEWORKS, folder: Path = CASES) -> list[Case]:
    """All cases of these frameworks, by name. Raises CaseError."""
    return [
        read_case(path, framework)
        for framework in frameworks
        for path in sorted((folder / framework).glob("*"))
        if path.suffix == ".py" or (path / "main.py").is_file()
    ]


def read_case(path: Path, framework: str) -> Case:
    """The case in a file, or in a folder with a main.py. Raises CaseError."""
    script = path / "main.py" if path.is_dir() else path
    files = sorted(path.rglob("*.py")) if path.is_dir() else [script]
    labels = [
        label
        for file in files
        for label in labels_of(file.read_text("utf-8"), str(file.relative_to(script.parent)))
    ]
    doc = ast.get_docstring(ast.parse(script.read_text("utf-8"))) or ""
    if "http" not in doc:
        raise CaseError(f"{path.name}: its docstring names no public issue or thread")
    return Case(path.stem, framework, script, doc.splitlines()[0], tuple(labels), **_settings(path.name, doc))


def labels_of(text: str, file: str) -> Iterator[Label]:
    """The labels in a Python file's comments. Raises CaseError."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT:
            continue
        site = f"{file}:{token.start[0]}"
        for verb, words in _CLAUSE.findall(token.string):
            for word in words.split(","):
                yield _label(site, word.split(), verb == "expect")


def _label(site: str, words: list[str], required: bool) -> Label:
    *mildness, code = words or [""]
    if code not in SEVERITY or mildness not in ([], ["info"]):
        raise CaseError(f"{site}: {' '.join(words) or 'nothing'} is no label; write CODE or info CODE")
    return Label(site, code, "info" if mildness or not required else SEVERITY[code], required)


def _settings(name: str, doc: str) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    env: list[tuple[str, str]] = []
    for line in _SETTING_LINE.findall(doc):
        for word in shlex.split(line):
            key, equals, value = word.partition("=")
            if key.startswith("env."):
                env.append((key.removeprefix("env."), value))
            elif key not in _SETTINGS or (not equals and key not in ("exact", "preflight")):
                raise CaseError(f"{name}: {word} is no setting; known are env.NAME, {', '.join(_SETTINGS)}")
            elif key == "args":
                settings[key] = tuple(shlex.split(value))
            elif key == "may":
                settings[key] = tuple(value.split(","))
            elif key == "exit":
                settings[key] = int(value)
            else:
                settings[key.replace("-", "_")] = value if equals else True
    return settings | {"env": tuple(env)}


def severe_enough(severity: str, least: str) -> bool:
    """Whether a severity is `least` or worse."""
    return RANK[severity] <= RANK[least]
