"""A notebook's cells as if each were a file: what they are called, and their text.

IPython compiles a cell under the name of a file that is not there (`/tmp/ipykernel_1/2.py`, or
`<ipython-input-3-..>` in a terminal) and keeps its text in Python's own cache of lines.
"""

from __future__ import annotations

import linecache
import sys
from typing import Any, Optional


def is_cell(filename: str) -> bool:
    """Whether code of this file's name was typed into IPython or a notebook."""
    return filename.startswith("<ipython-input-") or "/ipykernel_" in filename


def cell_name(filename: str) -> Optional[str]:
    """``In[3]`` for the third cell that was run; None where that is not known."""
    shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    numbers = getattr(getattr(shell, "compile", None), "_filename_map", None) or {}
    number = numbers.get(filename)
    return f"In[{number}]" if number else None


def cell_text(filename: str) -> Optional[str]:
    """What was typed; None where it is not kept any more."""
    known = linecache.cache.get(filename)
    if known is None or len(known) < 4:
        return None
    lines: Any = known[2]
    return "".join(lines)
