"""All that is known of a run at one moment: what pages, the command line and files show comes from here.

Each table is made when it is first asked for, and once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from app.diagnosis.detectors.unseen_work import hidden
from app.diagnosis.explanation import Explained, explained
from app.diagnosis.findings import run_findings
from app.diagnosis.judge import hop_table, told_hops
from app.facts.collectives import Collective, collective_table
from app.facts.device_map import device_map
from app.facts.lines import Line, SourceFile, source_files, split_site
from app.facts.memory import Memory, memory_table
from app.facts.placement import Op, op_table, placement
from app.facts.syncs import Sync, sync_table, with_stalls
from app.facts.tables import Tables
from app.facts.transfers.copy_times import cards_in, with_times
from app.facts.transfers.device_matrix import device_matrix
from app.facts.transfers.hops import Hop
from app.judgments.finding import Finding
from app.views.matrix_data import Matrix
from runners.machine.copy_costs import Costs

CostsOf = Callable[[list[str]], Costs | None]
"""What copies between the GPUs of these UUIDs cost, where that was measured."""


class RunAnalysis:
    """A run's facts and findings."""

    def __init__(self, tables: Tables, spec: Mapping[str, Any], costs_of: CostsOf | None = None) -> None:
        """`spec` is what the run was launched with; without `costs_of` hops have no times."""
        self.tables = tables
        self.spec = spec
        self._costs_of = costs_of

    @functools.cached_property
    def devices(self) -> list[str]:
        """All devices of the run, in order."""
        return self.tables.devices

    @functools.cached_property
    def device_map(self) -> dict[str, dict[str, Any]]:
        """What each device is: a GPU with its UUID, a stand-in, the host."""
        return device_map(self.spec, self.tables)

    @functools.cached_property
    def costs(self) -> Costs | None:
        """What copies between the run's GPUs cost; None where nobody measured that."""
        return self._costs_of(cards_in(self.device_map)) if self._costs_of is not None else None

    @functools.cached_property
    def judged_hops(self) -> list[Hop]:
        """The hop table, each row with its own cause."""
        return with_times(hop_table(self.tables), self.costs, self.device_map)

    @functools.cached_property
    def hops(self) -> list[Hop]:
        """The hop table, each row with the finding that reports it; with times where copies were measured."""
        return told_hops(self.judged_hops, self.all_findings)

    @functools.cached_property
    def syncs(self) -> list[Sync]:
        """Where Python waited for a device, or read a value from it."""
        return with_stalls(sync_table(self.tables), self.tables, self.judged_hops)

    @functools.cached_property
    def collectives(self) -> list[Collective]:
        """All-reduces and their kin."""
        return collective_table(self.tables)

    @functools.cached_property
    def memory(self) -> list[Memory]:
        """The peak of each device."""
        return memory_table(self.tables)

    @functools.cached_property
    def placement(self) -> list[dict[str, Any]]:
        """How many distinct ops ran on each device."""
        return placement(self.tables)

    @functools.cached_property
    def ops_by_device(self) -> dict[str, int]:
        """The same by the device's name."""
        return {row["device"]: row["ops"] for row in self.placement}

    @functools.cached_property
    def ops(self) -> list[Op]:
        """Distinct ops with their devices and lines."""
        return op_table(self.tables)

    @functools.cached_property
    def files(self) -> list[SourceFile]:
        """The user's files with what each of their lines made the devices do."""
        return source_files(self.tables, self.hops, self.syncs, self.collectives)

    def line(self, site: str) -> Line | None:
        """What a line, ``train.py:31``, made the devices do; None where it is not in the trace."""
        place = split_site(site)
        if place is None:
            return None
        return next((file.lines.get(place[1]) for file in self.files if file.path == place[0]), None)

    @functools.cached_property
    def all_findings(self) -> list[Finding]:
        """What could not be seen, and what the reader should know, the costliest first."""
        return run_findings(self.tables, self.judged_hops, self.syncs, self.spec)

    @functools.cached_property
    def findings(self) -> list[Finding]:
        """What the reader should know, the costliest first."""
        return [finding for finding in self.all_findings if not finding.unseen]

    @functools.cached_property
    def unseen(self) -> list[Finding]:
        """What could not be seen."""
        return [finding for finding in self.all_findings if finding.unseen]

    @functools.cached_property
    def all_explained(self) -> list[Explained]:
        """All findings, each with its reason, its lines, its fix and its proof."""
        return explained(self.all_findings, self.tables, self.judged_hops)

    @functools.cached_property
    def explained(self) -> list[Explained]:
        """The same of what the reader should know."""
        return [one for one in self.all_explained if not one.finding.unseen]

    @functools.cached_property
    def hidden(self) -> str:
        """What the recorder missed of much of the run; '' where it missed little."""
        return hidden(self.tables)

    @functools.cached_property
    def matrix(self) -> Matrix:
        """Bytes and transfers between devices."""
        return device_matrix(self.hops, self.devices, self.tables.stand_ins, collectives=self.collectives)
