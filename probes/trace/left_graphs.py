"""Folders of graphs that a cluster's servers left beside the traces for their coordinator to read."""

from __future__ import annotations

import os
import shutil

ENDING = ".graphs"
"""Of each folder's name, one a process."""


def remove_graphs(folder: str) -> None:
    """Delete them: they have been read, or nobody is left to read them."""
    try:
        names = [name for name in os.listdir(folder) if name.endswith(ENDING)]
    except OSError:
        return
    for name in names:
        shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
