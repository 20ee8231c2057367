"""Runs a program with some of its files replaced by edited copies, under their own names.

`$HOPSCOPE_EDITS` names a JSON file, ``{absolute path: path of the edited copy}``. Modules are compiled from
the copy, and no bytecode of it is kept; a script is run by `run_main`, with `sys.argv`, `sys.path` and
`__main__` as they would be. Tracebacks, `inspect` and AutoGraph read the copy's lines.
"""

from __future__ import annotations

import functools
import json
import linecache
import os
import sys
import tokenize
import traceback
from importlib.machinery import SourceFileLoader
from types import CodeType, TracebackType
from typing import Any, Optional

VARIABLE = "HOPSCOPE_EDITS"
_PROBES = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_SCRIPT = os.path.join(_PROBES, "inject", "edited_script.py")
_BELOW = (_SCRIPT, __file__)
"""What runs below the script where Python itself would be."""


@functools.lru_cache(maxsize=1)
def edits() -> dict[str, str]:
    """Absolute path -> path of the edited copy; empty for a program that runs as it is."""
    listed = os.environ.get(VARIABLE)
    if not listed:
        return {}
    with open(listed, encoding="utf-8") as file:
        told: dict[str, str] = json.load(file)
    return {os.path.realpath(path): copy for path, copy in told.items()}


def text_file(path: str) -> str:
    """The file that holds a file's text in this process: its edited copy, or itself."""
    return edits().get(os.path.realpath(path), path) if edits() else path


def install() -> None:
    """Let imports of edited files take the copies."""
    if not edits():
        return
    original: Any = SourceFileLoader.get_code

    def get_code(self: Any, fullname: str) -> Optional[CodeType]:
        path = self.get_filename(fullname)
        if text_file(path) == path:
            code: Optional[CodeType] = original(self, fullname)
            return code
        return _compiled(path)

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign, assignment]


def run_main() -> None:
    """Run the script that the command line names after this process's own, as Python would have."""
    main = sys.modules["__main__"]
    del sys.argv[0]
    script = os.path.abspath(sys.argv[0])
    sys.path[0] = os.path.dirname(os.path.realpath(script))
    sys.excepthook = _told
    main.__file__ = script
    main.__doc__ = None
    main.__loader__ = SourceFileLoader("__main__", script)
    exec(_compiled(script), main.__dict__)


_LINES: dict[str, tuple[int, None, list[str], str]] = {}
"""What `linecache` has to say of each edited file."""


@functools.lru_cache(maxsize=1)
def _keep_lines() -> None:
    """Let nothing read the files on the disk again: AutoGraph does before it rewrites a function.

    Its `_fix_linecache_record` (tensorflow/python/autograph/pyct/inspect_utils.py) finds each module broken,
    since it compares a function's `__module__`, which is a name, with the module itself.
    """
    original: Any = linecache.updatecache

    def updatecache(filename: str, module_globals: Any = None) -> list[str]:
        known = _LINES.get(filename)
        if known is None:
            lines: list[str] = original(filename, module_globals)
            return lines
        linecache.cache[filename] = known
        return known[2]

    linecache.updatecache = updatecache


def _told(kind: type[BaseException], error: BaseException, trace: Optional[TracebackType]) -> None:
    """An error as Python tells it, from the script on; its own telling reads the lines from the disk."""
    while trace is not None and trace.tb_frame.f_code.co_filename in _BELOW:
        trace = trace.tb_next
    traceback.print_exception(kind, error, trace)


def _compiled(path: str) -> CodeType:
    with tokenize.open(text_file(path)) as file:
        lines = file.read().splitlines(keepends=True)
    # Without a time of its own such an entry is never held against the file on the disk.
    _LINES[path] = (sum(map(len, lines)), None, lines, path)
    linecache.cache[path] = _LINES[path]
    _keep_lines()
    with open(text_file(path), "rb") as raw:
        return compile(raw.read(), path, "exec", dont_inherit=True)
