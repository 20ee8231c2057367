"""What the views of a run share while one run of the page's script lasts."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from app.screen import rows
from app.screen.address import RunAddress
from app.screen.focus import Focus
from app.screen.open_runs import OpenRun, Snapshot
from app.screen.stage import Stage, stage_of
from app.views.placement_data import Diagram
from runners.run import Run


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
