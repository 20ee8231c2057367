"""Compiles the libraries, once a process for each set of symbols that are left out."""

from __future__ import annotations

import functools
import re
import subprocess
import tempfile
from pathlib import Path

from tests.nvml import layout
from tests.nvml.missing import compiler, include_folder, why_not

SOURCES = Path(__file__).resolve().parent / "c"
NVML = "libnvidia-ml.so.1"
CUDA = "libcuda.so.1"

_DECLARED = re.compile(r"^[^/*\n]*?nvmlReturn_t\s+DECLDIR\s+(nvml\w+)\s*\(", re.MULTILINE)
_NVML_DEFINED = re.compile(
    r"^(?:nvmlReturn_t (nvml\w+)|(?:READ|READ_TWO|READ_TEXT|UTILIZATION|PCI|PCI_SHORT|LIST)\((nvml\w+))", re.M
)
_CUDA_DEFINED = re.compile(r"^CUresult (cu\w+)\(", re.MULTILINE)


class CannotBuild(Exception):
    """The compiler refused."""


@functools.cache
def functions() -> tuple[str, ...]:
    """Every function of NVIDIA's header, then the CUDA driver's that are here: the control file's order."""
    folder = include_folder()
    assert folder, why_not()
    declared = sorted(set(_DECLARED.findall((folder / "nvml.h").read_text())))
    return *declared, *sorted(set(_cuda_defined()))


@functools.cache
def build(without: frozenset[str] = frozenset()) -> dict[str, bytes]:
    """The libraries' contents by file name; `without` are symbols of NVML that this driver lacks."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder)
        (made / "layout.h").write_text(layout.header(functions()))
        (made / "rest.c").write_text(_rest())
        local = "".join(f" {name};" for name in sorted(without))
        (made / "symbols.map").write_text(f"{{ global: nvml*; local:{local} *; }};\n")
        (made / "cuda.map").write_text("{ global: cu*; local: *; };\n")
        nvml = [*sorted(SOURCES.glob("nvml_*.c")), SOURCES / "control.c", made / "rest.c"]
        cuda = [*sorted(SOURCES.glob("cuda_*.c")), SOURCES / "control.c"]
        _compile(made, NVML, "symbols.map", nvml)
        if len(cuda) > 1:
            _compile(made, CUDA, "cuda.map", cuda)
        return {name: (made / name).read_bytes() for name in (NVML, CUDA) if (made / name).exists()}


def _compile(folder: Path, name: str, symbols: str, sources: list[Path]) -> None:
    command = compiler()
    include = include_folder()
    assert command and include, why_not()
    done = subprocess.run(
        [
            *command,
            "-std=gnu11",
            "-O1",
            "-fPIC",
            "-shared",
            "-fvisibility=default",
            "-Wall",
            "-Wextra",
            "-Werror=implicit-function-declaration",
            "-Wno-unused-parameter",
            "-Wno-deprecated-declarations",
            f"-I{folder}",
            f"-I{SOURCES}",
            f"-isystem{include}",
            f"-Wl,-soname,{name}",
            f"-Wl,--version-script={folder / symbols}",
            "-o",
            str(folder / name),
            *map(str, sources),
            "-lm",
            "-lpthread",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise CannotBuild(done.stderr)


def _cuda_defined() -> list[str]:
    return [name for source in SOURCES.glob("cuda_*.c") for name in _CUDA_DEFINED.findall(source.read_text())]


def _rest() -> str:
    """Every function of the header that has no code of its own: it is there, and not supported."""
    defined = {
        name
        for source in SOURCES.glob("nvml_*.c")
        for names in _NVML_DEFINED.findall(source.read_text())
        for name in names
        if name
    }
    lines = [
        '#include "shared.h"',
        "int enter(int function);",
        # No prototypes: the caller's arguments are never looked at.
        "#define REST(name) int name(void) { int status = enter(F_##name); return status ? status : 3; }",
    ]
    lines += [f"REST({name})" for name in functions() if name.startswith("nvml") and name not in defined]
    return "\n".join(lines) + "\n"
