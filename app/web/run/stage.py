"""How far a run is with recording, for what stands where there is nothing to show yet, or never will be."""

from __future__ import annotations

import dataclasses

from app.facts.tables import Tables
from app.web.shared.launch_words import title_of
from probes.trace.rows import EVERYTHING
from runners.runs.purpose import is_preflight
from runners.runs.run import Run
from runners.runs.status import LIVE_STATES


@dataclasses.dataclass(frozen=True)
class Stage:
    """A run's state and what of it has been recorded."""

    state: str
    framework: str
    """For people: ``TensorFlow``, or ``the framework`` where it is not known."""
    devices: int = 0
    """Devices that the framework said it has."""
    ran: bool = False
    """Whether any op or function has run."""
    unrecorded: str = ""
    """Why the recorder saw nothing at all; '' where it could see."""
    flown: bool = False
    """A pre-flight: what it did here says nothing of the machine that is meant."""

    @property
    def live(self) -> bool:
        """Whether more may come."""
        return self.state in LIVE_STATES

    @property
    def starting(self) -> bool:
        """Whether it goes on and has not run its first op."""
        return self.live and not (self.devices and self.ran) and not self.unrecorded

    @property
    def empty(self) -> str:
        """Why nothing at all is there; '' when something is."""
        if self.starting:
            return "The program is still starting."
        if self.ran:
            return ""
        if self.unrecorded:
            return f"Nothing was recorded: {self.unrecorded}."
        if self.state == "finished":
            return f"Nothing was recorded: the program never ran {self.framework}."
        return f"Nothing was recorded: the program ended before {self.framework} ran."

    @property
    def uncrossed(self) -> str:
        """What stands in place of transfers where there are none."""
        so_far = "Nothing has crossed between devices so far."
        if self.flown and not self.live and not self.empty:
            return "Nothing crossed here, without those GPUs; what would cross there is foreseen above."
        return self.empty or (so_far if self.live else "Nothing crossed between devices.")

    @property
    def alone(self) -> str:
        """What stands in place of the matrix where there are no two devices."""
        here = "Here was one device only; what would cross with GPUs is foreseen above."
        return self.empty or (here if self.flown else "One device only: nothing can cross.")


def stage_of(run: Run, tables: Tables) -> Stage:
    """How far this run is."""
    return Stage(
        run.state,
        title_of(run.framework) if run.framework else "the framework",
        len(tables.own_devices),
        bool(tables.eager_ops) or any(graph.calls for graph in tables.graphs),
        next((row.why for row in tables.unseen if row.what == EVERYTHING), ""),
        is_preflight(run),
    )
