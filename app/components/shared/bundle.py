"""Joins a component's ES modules into the one text that Streamlit takes, without anything but Python.

Each module becomes a function of its own that runs once and returns what the module exports, so that names
stay private as they do in a browser that loads modules by itself. Only these forms are understood, each on
one line that begins with the keyword; eslint.config.js asks for the same ones:

- ``import { a, b } from "./x.js";``
- ``import x from "./x.json" with { type: "json" };``
- ``export function``, ``export async function``, ``export class`` and ``export const NAME =``
- ``export default function``, in the module that the bundle is of
"""

from __future__ import annotations

import json
import re
from pathlib import Path

_NAMES = re.compile(r'import \{ (?P<names>\w+(?:, \w+)*) \} from "(?P<path>\.\.?/[\w./-]+\.js)";')
_JSON = re.compile(r'import (?P<name>\w+) from "(?P<path>\.\.?/[\w./-]+\.json)" with \{ type: "json" \};')
_EXPORT = re.compile(
    r"export (?P<declared>(?:(?:async )?function|class) (?P<name>\w+)\b.*|const (?P<value>\w+) = .*)"
)
_DEFAULT = re.compile(r"export default function\b.*")
_KEYWORD = re.compile(r"\s*(?:import|export)\b|(?!\s*(?:/?\*|//)).*\bimport\s*[(.]")
"""What a line outside comments has that imports or exports, in whatever form."""


class BundleError(Exception):
    """A module has an import or export that cannot be resolved."""


def bundle(entry: Path, folder: Path) -> str:
    """Return one module: what `entry` imports from below `folder`, and its ``export default``."""
    modules = _Modules(folder.resolve())
    body = modules.read(entry.resolve(), is_entry=True)
    return "\n".join([*modules.texts, body])


class _Modules:
    """The modules of one bundle, each after those that it imports."""

    def __init__(self, folder: Path) -> None:
        self.texts: list[str] = []
        self._folder = folder
        self._exports: dict[Path, set[str]] = {}
        self._reading: list[Path] = []

    def read(self, path: Path, *, is_entry: bool = False) -> str:
        """Return a module's body without imports and exports, once those that it imports are in `texts`."""
        self._reading.append(path)
        exports: list[str] = []
        lines = []
        for number, line in enumerate(path.read_text("utf-8").rstrip("\n").split("\n"), start=1):
            if not _KEYWORD.match(line):
                lines.append(line)
            elif found := _NAMES.fullmatch(line):
                lines.append(self._imported(path, found["path"], found["names"].split(", ")))
            elif found := _JSON.fullmatch(line):
                lines.append(f"const {found['name']} = {self._data(path, found['path'])};")
            elif found := _EXPORT.fullmatch(line):
                exports.append(found["name"] or found["value"])
                lines.append(found["declared"])
            elif is_entry and _DEFAULT.fullmatch(line):
                lines.append(line)
            else:
                raise BundleError(
                    f"{path}:{number}: not a form of import or export that is understood: {line}"
                )
        self._reading.pop()
        self._exports[path] = set(exports)
        if is_entry:
            return "\n".join(lines)
        return "\n".join(["(() => {", *lines, f"return {{ {', '.join(exports)} }};", "})()"])

    def _imported(self, importer: Path, name: str, names: list[str]) -> str:
        path = self._resolved(importer, name)
        if path in self._reading:
            raise BundleError(f"{importer}: {name} imports this module in turn")
        if path not in self._exports:
            body = self.read(path)
            self.texts.append(f"const {self._variable(path)} = {body};")
        missing = [one for one in names if one not in self._exports[path]]
        if missing:
            raise BundleError(f"{importer}: {name} does not export {', '.join(missing)}")
        return f"const {{ {', '.join(names)} }} = {self._variable(path)};"

    def _data(self, importer: Path, name: str) -> str:
        return json.dumps(json.loads(self._resolved(importer, name).read_text("utf-8")))

    def _resolved(self, importer: Path, name: str) -> Path:
        path = (importer.parent / name).resolve()
        if not path.is_relative_to(self._folder) or not path.is_file():
            raise BundleError(f"{importer}: {name} is no file below {self._folder}")
        return path

    def _variable(self, path: Path) -> str:
        """Name of a module's exports: ``$shared_cells``; the modules' own names never begin with $."""
        return "$" + re.sub(r"\W", "_", str(path.relative_to(self._folder).with_suffix("")))
