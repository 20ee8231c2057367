"""What the views of a run share while one run of the page's script lasts."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from app.views.placement_data import Diagram
from app.web.run.focus import Focus
from app.web.run.stage import Stage, stage_of
from app.web.shared import rows
from app.web.shared.address import RunAddress
from app.web.shared.open_runs import OpenRun, Snapshot
from runners.runs.run import Run


@dataclasses.dataclass(frozen=True)
class Page:
    """What the views of one run of the page's script share."""

    run: Run
    open: OpenRun
    snapshot: Snapshot
    address: RunAddress
    focus: Focus
    diagram: Diagram
    ended: bool
    go: Callable[[RunAddress], None]
    """Shows another address of this run."""

    @property
    def stage(self) -> Stage:
        """How far the run is."""
        return stage_of(self.run, self.snapshot.tables)

    @property
    def row_maker(self) -> rows.RunRows:
        """Makes table rows in the run's hues."""
        return rows.RunRows.of(self.snapshot.tables)
