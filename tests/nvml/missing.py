"""What the double is made with: a C compiler and NVIDIA's header."""

from __future__ import annotations

import functools
import importlib.metadata
import os
import shlex
import shutil
import subprocess
from pathlib import Path


def compiler() -> list[str] | None:
    """The command of the C compiler: $CC, else cc, gcc or clang."""
    named = shlex.split(os.environ.get("CC", ""))
    if named and shutil.which(named[0]):
        return named
    for name in ("cc", "gcc", "clang"):
        if found := shutil.which(name):
            return [found]
    return None


def include_folder() -> Path | None:
    """The folder with nvml.h of the package nvidia-nvml-dev."""
    try:
        files = importlib.metadata.files("nvidia-nvml-dev") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.name == "nvml.h" and (path := Path(str(file.locate()))).is_file():
            return path.parent
    return None


@functools.cache
def why_not() -> str | None:
    """Why the double cannot be made here, in a line; None where it can."""
    command = compiler()
    if command is None:
        return "there is no C compiler (cc, gcc, clang or $CC), which makes the double of NVIDIA's driver"
    if include_folder() is None:
        return "nvml.h is missing: pip install -r tests/requirements.txt brings it (nvidia-nvml-dev)"
    probe = "#include <stdlib.h>\n#include <sys/mman.h>\n"
    check = [*command, "-fsyntax-only", "-xc", "-"]
    if subprocess.run(check, input=probe.encode(), capture_output=True, check=False).returncode:
        return "the C compiler has no headers of the C library: apt-get install libc6-dev"
    return None
