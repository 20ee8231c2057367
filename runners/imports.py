"""Which framework a script uses, read off its text: nothing of it is run."""

from __future__ import annotations

import ast
import warnings
from pathlib import Path

_FRAMEWORK_OF = {
    "tensorflow": "tensorflow",
    "keras": "tensorflow",
    "tf_keras": "tensorflow",
    "mxnet": "mxnet",
    "gluonnlp": "mxnet",
    "gluoncv": "mxnet",
}


def framework_of(script: Path) -> str | None:
    """Return the framework that the script's own import statements name first, None when they name none."""
    try:
        with warnings.catch_warnings():
            # A user's invalid escape sequence is for the script's own run to complain about.
            warnings.simplefilter("ignore")
            tree = ast.parse(script.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    named: list[tuple[int, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            named += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            named.append((node.lineno, node.module))
    for _, module in sorted(named):
        framework = _FRAMEWORK_OF.get(module.partition(".")[0])
        if framework:
            return framework
    return None


def module_file(module: str, folder: Path) -> Path | None:
    """Return the file that `python -m module` would run from `folder`, None where it is not found there."""
    base = folder.joinpath(*module.split("."))
    for path in (base.with_name(base.name + ".py"), base / "__main__.py"):
        if path.is_file():
            return path
    return None
