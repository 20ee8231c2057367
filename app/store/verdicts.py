"""What a program said its claim comes to on this machine: the verdict lines of its log.

A run of stages measures with the recorder off and is recorded afterwards; then only what the measuring
stage said counts. The recorded stage begins with a line ``hopscope: stage record: ...``.
"""

from __future__ import annotations

import re
from pathlib import Path

from app.store.ended import read_json
from app.store.log import shown_line
from app.store.log_lines import STAGE, LogLines
from runners.programs.verdicts import VERDICTS, Verdict

MOST = 20
"""Different verdicts that are kept of one run."""
LONGEST = 1000
"""Characters of one verdict."""
_RECORDED = STAGE + b"record"
_LINE = re.compile(rf"(?:[\w.:-]+ *\| )?verdict (?P<verdict>{'|'.join(VERDICTS)}): +(?P<text>\S.*)".encode())
"""Of several processes at once each line has the process's name before it: ``worker-0 | verdict ..``."""


def parse_line(line: bytes) -> Verdict | None:
    """The verdict that a line of the log is, None when it is none."""
    match = _LINE.fullmatch(line.rstrip())
    if match is None:
        return None
    return Verdict(match["verdict"].decode(), shown_line(match["text"], LONGEST).strip())


class VerdictReader:
    """Follows a run's log and keeps its verdicts: one to be kept as long as the run is looked at."""

    def __init__(self, folder: Path) -> None:
        """`folder` is the run's; its log may not be there yet."""
        self._lines = LogLines(folder)
        self._measured_apart = _has_measuring_stage(folder)
        self._over = False
        self._found: dict[Verdict, None] = {}

    def refresh(self) -> bool:
        """Read what was appended; true when there was a verdict in it."""
        before = len(self._found)
        for line in self._lines.read():
            if self._measured_apart and line.startswith(_RECORDED):
                self._over = True
            if self._over or len(self._found) >= MOST:
                continue
            verdict = parse_line(line)
            if verdict is not None:
                self._found[verdict] = None
        return len(self._found) > before

    def verdicts(self) -> list[Verdict]:
        """Each verdict once, as said: several processes of a run may say the same."""
        return list(self._found)


def read_verdicts(folder: Path) -> list[Verdict]:
    """The verdicts of a run that is over, or so far; none where its log can't be read."""
    reader = VerdictReader(folder)
    reader.refresh()
    return reader.verdicts()


def _has_measuring_stage(folder: Path) -> bool:
    stages = read_json(folder / "spec.json").get("stages")
    parts = stages if isinstance(stages, list) else []
    return any(isinstance(stage, dict) and stage.get("name") == "measure" for stage in parts)
