"""A program as one file that runs alone: what it uses of the programs' shared modules stands in it.

Copied are only the definitions that are used: the program's own as they are written, comments and all, and
what these use with its documentation cut to a line and its options' help left out. What was reached through
a module loses the module's name, `held_out` for `digits.held_out`, or keeps it where the rest alone would say
too little or is taken: `verdict_say`.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from runners import catalogue
from runners.errors import UsageError
from runners.export.program_parts import Module, Part, Target, read_module
from runners.export.short_definitions import shortened
from runners.program import HELPERS
from runners.python_source import parse

_CHECKERS = re.compile(r"  # (type: ignore|noqa)\S*.*$", re.MULTILINE)
"""Comments for tools that check this project's code."""
_PLAIN: dict[Target, Target] = {
    ("shared.command", "add_network"): ("shared.command", "add_kept_network"),
    ("shared.digit_files", "why_not"): ("shared.digit_files", "why_not_kept"),
    ("shared.digits", "load"): ("shared.digits", "load_kept"),
}
"""What a copy has in place of what the programs have here: it trains on the digits, and reads no MNIST."""
_DIGITS = HELPERS / "shared" / "digits.csv.gz"
_GUARD = 'if __name__ == "__main__":\n    main()\n'


def one_file(program: str) -> str:
    """Return the source of a catalogued program as a single file.

    It needs the program's framework and numpy, and for the digits the data file beside it or scikit-learn.
    Raises UsageError where there is no such program.
    """
    return Assembly(catalogue.program(program).script).text()


def companions(program: str) -> tuple[Path, ...]:
    """Return the files that belong beside that file: the digits, and whose they are, where it trains on them.

    Raises UsageError where there is no such program.
    """
    reads = Assembly(catalogue.program(program).script).uses(("shared.digits", "load_kept"))
    return (_DIGITS, _DIGITS.with_name("digits.ATTRIBUTION.txt")) if reads else ()


def packed(program: str) -> tuple[str, bytes]:
    """Return the name and the content of one file to download: with what belongs beside the program, a zip.

    Raises UsageError where there is no such program.
    """
    if not companions(program):
        return file_name(program), one_file(program).encode()
    archive, folder = io.BytesIO(), PurePosixPath(program)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as files:
        files.writestr(str(folder / file_name(program)), one_file(program))
        for companion in companions(program):
            files.write(companion, str(folder / companion.name))
    return f"{program}.zip", archive.getvalue()


def write(program: str, folder: Path) -> list[Path]:
    """Write that file and those beside it to a folder, which is made where it is missing; return them.

    UsageError where there is no such program, or a file of that name that has another content; OSError where
    they cannot be written.
    """
    contents = {folder / file_name(program): one_file(program).encode()}
    contents |= {folder / one.name: one.read_bytes() for one in companions(program)}
    for path, content in contents.items():
        if path.exists() and path.read_bytes() != content:
            raise UsageError(f"{path} is there already, and is another file: name another folder")
    folder.mkdir(parents=True, exist_ok=True)
    for path, content in contents.items():
        path.write_bytes(content)
    return list(contents)


def file_name(program: str) -> str:
    """Return what to call that file."""
    return program.replace("-", "_") + ".py"


class Assembly:
    """A script with what it uses of the programs' modules, as one text."""

    def __init__(self, script: Path) -> None:
        self.folder = script.parent
        self.script = script
        self.modules: dict[str, Module] = {}
        self.wanted: dict[int, Part] = {}
        """By id: the parts that the file has, found by following what each of them uses."""
        self.order: list[str] = []
        """Modules, those that others use first."""
        self.main = self._module(script.stem)

    def text(self) -> str:
        """All of it, as Python reads it."""
        for part in self.main.parts:
            self._want(part)
        parts = list(self.wanted.values())
        names = self._names(parts)
        early = self._early()
        helpers = [part for part in parts if part.module != self.main.name]
        source = self.script.read_text()
        docstring = parse(source).body[0]
        head = ast.get_source_segment(source, docstring) or ""
        sections = [f"{head}\n\nfrom __future__ import annotations\n\n{self._imports(parts)}\n"]
        sections += self._written([part for part in helpers if id(part) in early], names)
        sections += [self._write(part, names) for part in self.main.parts]
        sections += self._written([part for part in helpers if id(part) not in early], names)
        return _spaced(_CHECKERS.sub("", text) for text in [*sections, _GUARD])

    def uses(self, target: Target) -> bool:
        """Whether a definition of the shared modules is one of those in the file."""
        for part in self.main.parts:
            self._want(part)
        return any((part.module, name) == target for part in self.wanted.values() for name in part.names)

    # -- what is needed ----------------------------------------------------------------------------

    def _module(self, name: str) -> Module:
        if name not in self.modules:
            self.modules[name] = module = read_module(self.folder, name)
            for used in [*module.modules.values(), *(target[0] for target in module.aliases.values())]:
                self._module(used)
            self.order.append(name)
        return self.modules[name]

    def _resolve(self, target: Target) -> Target:
        """The definition behind a name that a module has from another one."""
        module = self._module(target[0])
        return (
            self._resolve(module.aliases[target[1]])
            if target[1] in module.aliases
            else _PLAIN.get(target, target)
        )

    def _part(self, target: Target) -> Part:
        for part in self._module(target[0]).parts:
            if target[1] in part.names:
                return part
        raise ValueError(f"{target[0]} has no {target[1]}")

    def _want(self, part: Part) -> None:
        if id(part) in self.wanted:
            return
        self.wanted[id(part)] = part
        for use in part.uses:
            self._want(self._part(self._resolve(use.target)))

    def _early(self) -> set[int]:
        """Those of other modules that the program's own definitions need when the file is read."""
        found: set[int] = set()

        def add(part: Part) -> None:
            if id(part) not in found and part.module != self.main.name:
                found.add(id(part))
                for use in part.uses:
                    add(self._part(self._resolve(use.target)))

        for part in self.main.parts:
            for use in part.uses:
                if use.at_import:
                    add(self._part(self._resolve(use.target)))
        return found

    # -- how it is written -------------------------------------------------------------------------

    def _names(self, parts: Iterable[Part]) -> dict[Target, str]:
        """What each definition is called in the one file: by its own name where that is free."""
        parts = list(parts)
        taken = {name for part in parts for name in (*part.bound, *part.imports)}
        names = {(part.module, name): name for part in self.main.parts for name in part.names}
        taken |= set(names.values())
        for part in parts:
            if part.module == self.main.name:
                continue
            for name in part.names:
                module = part.module.rpartition(".")[2]
                vague = re.fullmatch("[a-z]+", name) is not None
                chosen = f"{module}_{name.lstrip('_')}" if vague or name in taken else name
                names[part.module, name] = chosen
                taken.add(chosen)
        return names

    def _imports(self, parts: Iterable[Part]) -> str:
        lines = {self.modules[part.module].imports[name] for part in parts for name in part.imports}
        plain = sorted(line for line in lines if line.startswith("import "))
        froms: dict[str, list[str]] = {}
        for line in lines - set(plain):
            _, module, _, name = line.split(" ", 3)
            froms.setdefault(module, []).append(name)
        plain += [f"from {module} import {', '.join(sorted(froms[module]))}" for module in sorted(froms)]
        standard = [line for line in plain if line.split()[1].partition(".")[0] in sys.stdlib_module_names]
        others = [line for line in plain if line not in standard]
        return "\n\n".join("\n".join(group) for group in (standard, others) if group)

    def _written(self, parts: list[Part], names: dict[Target, str]) -> list[str]:
        """The parts, module by module, in the order in which they can be read."""
        written = []
        for name in self.order:
            chosen = {id(part) for part in parts if part.module == name}
            ordered = [part for part in self.modules[name].parts if id(part) in chosen]
            texts = [self._write(part, names) for part in ordered]
            if texts:
                written += [f"# {self.modules[name].docstring.splitlines()[0]}", *texts]
        return written

    def _write(self, part: Part, names: dict[Target, str]) -> str:
        """A part's source with the names that things have in the one file."""
        pieces, done = [], 0
        for use in part.uses:
            pieces += [part.source[done : use.start], names[self._resolve(use.target)].encode()]
            done = use.end
        text = b"".join([*pieces, part.source[done:]]).decode()
        return text if part.module == self.main.name else shortened(text)


def _spaced(sections: Iterable[str]) -> str:
    """The sections with two blank lines around what is longer than a constant."""
    text, before = "", ""
    for section in sections:
        close = _is_constant(section) and _is_constant(before)
        text += ("\n" if close else "\n\n\n") if text else ""
        text += section.rstrip("\n")
        before = section
    return text + "\n"


def _is_constant(section: str) -> bool:
    return re.match(r"\w+(: [^=\n]+)? = ", section) is not None
