"""The folder that sites are relative to: that of the program, as whoever started it sees it."""

from __future__ import annotations

import os
import sys
import sysconfig


def script_folder() -> str:
    """The script's folder; of `-m package.module` the folder that holds the package.

    Where what was started is no code of the user's (pytest, a notebook's kernel), the working directory.
    """
    main = sys.modules.get("__main__")
    file = getattr(main, "__file__", None) or (sys.argv[0] if getattr(sys, "argv", None) else "")
    if not file or file.startswith("-") or _is_library(os.path.abspath(file)):
        return os.getcwd()
    folder = os.path.dirname(os.path.abspath(file))
    # A folder or archive that is run has a spec without a package; `-m package` is package.__main__.
    package = getattr(getattr(main, "__spec__", None), "parent", None) or ""
    for _ in package.split(".") if package else ():
        folder = os.path.dirname(folder)
    return folder


def _is_library(file: str) -> bool:
    paths = sysconfig.get_paths()
    folders = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib", "scripts")}
    folders |= {os.path.realpath(folder) for folder in folders}
    return any(file.startswith(folder + os.sep) for folder in folders) or "-packages" + os.sep in file
