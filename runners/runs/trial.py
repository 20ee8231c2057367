"""What a run tries: whether a finding of another run goes away by a change."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

FOLDER, EDITS_NAME = "edited", "edits.json"
VARIABLE = "HOPSCOPE_EDITS"
"""The environment variable that names the list of edited copies (probes/trace/edited.py)."""


@dataclasses.dataclass(frozen=True)
class Trial:
    """A finding of another run, and what is changed to be rid of it."""

    of: str
    """Id of that run."""
    finding: str
    """``code@site``."""
    edits: Mapping[str, str]
    """New text of files, by absolute path; empty where only options change."""

    def as_json(self) -> dict[str, Any]:
        """As a run's spec has it."""
        return {"of": self.of, "finding": self.finding, "edited": list(self.edits)}
