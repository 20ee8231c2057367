"""Keeps the recorder's frames out of the stacks that TensorFlow keeps of ops, and prints in their errors."""

from __future__ import annotations

import glob
import os
from typing import Any

from ..trace.recording import Recording

_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def install(recording: Recording) -> None:
    """Filter the files of this package wherever a stack is extracted."""
    from tensorflow.python.util import tf_stack

    outermost: Any = tf_stack.SentinelFilter
    files = frozenset(glob.glob(os.path.join(glob.escape(_OURS), "**", "*.py"), recursive=True))
    make = outermost.__init__
    guard = recording.guard("stacks of ops")

    def __init__(self: Any) -> None:
        make(self)
        with guard:
            self.internal_set.update_to(set(files))

    outermost.__init__ = __init__
    # What stands further in adds its own files to these.
    outermost.get_filtered_filenames = lambda self: files
    with guard:
        for stack in list(tf_stack._source_filter_stacks.values()):
            for level in stack:
                level._cached_set = None
                level.update()
