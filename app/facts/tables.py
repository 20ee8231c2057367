"""A run's rows as the analysis takes them: one snapshot, so that all figures of a page agree."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence

from app.facts.devices import in_order
from app.facts.frequency.recurrence import Recurrence, SingleEvents
from app.facts.groups import grouped
from app.store.courses import courses, step_marks
from app.store.device_names import qualified, role_prefix
from app.store.paces import Paces
from app.store.run import RunStore
from app.store.sources import kept_text
from app.store.totals import KeyTotals, is_sampled
from probes.trace.rows import BETWEEN_WINDOWS, Edge, Event, Graph, Key, Location, Node, Process, Unseen

_HEIRS = ("fork", "block")
"""Processes that begin with definitions of what ran elsewhere."""


@dataclasses.dataclass(frozen=True)
class Tables(Recurrence):
    """The rows of one run; nodes and edges are fetched a graph at a time."""

    processes: list[Process]
    locations: Mapping[int, Location]
    graphs: list[Graph]
    keys: list[Key]
    unseen: list[Unseen]
    totals: Mapping[int, KeyTotals] = dataclasses.field(default_factory=dict)
    """Sums over a key's events, where it has any."""
    nodes_of: Callable[[int], list[Node]] = lambda graph: []
    edges_of: Callable[[int], list[Edge]] = lambda graph: []
    events_of: Callable[[str], list[Event]] = lambda kind: []
    """The events of one kind by time, for kinds that have few."""
    first_events: Callable[[Sequence[str], int], list[tuple[int, int]]] = lambda kinds, limit: []
    """(key, duration in ns) of the first so many events of some kinds, by time."""
    text_of: Callable[[str], str | None] = lambda path: None
    """The kept text of a file by its path as sites have it; None where none was kept."""
    paces: Paces = dataclasses.field(default_factory=Paces)
    """In which steps things happened, where the events tell."""
    single_events: SingleEvents = lambda kinds, limit, after_ns: []
    """(time in ns, key, thread) of the first so many single executions of some kinds, by time."""

    def site(self, location: int | None) -> str | None:
        """``train.py:31``; None for no location and for one whose definition was lost."""
        known = self.locations.get(location or 0)
        return known.site if known else None

    def site_of(self, key: Key) -> str:
        """The site of a key; '' for none."""
        return self.site(key.fields.get("loc")) or ""

    def via(self, location: int | None) -> str | None:
        """The library frame below a location."""
        known = self.locations.get(location or 0)
        return known.via if known else None

    @functools.cached_property
    def devices(self) -> list[str]:
        """Every device that a process has or a record names."""
        found = {device for process in self.processes for device in process.devices}
        for key in self.keys:
            fields = key.fields
            found.update(fields[name] for name in ("device", "src", "dst") if fields.get(name))
            found.update(fields.get("devices") or ())
            found.update(fields.get("reads") or ())
        return in_order(found)

    @functools.cached_property
    def own_graphs(self) -> list[Graph]:
        """The graphs without those that a process only took over, from its parent or an earlier block."""
        heirs = _heirs(self.processes)
        return [graph for graph in self.graphs if graph.calls or graph.id >> 32 not in heirs]

    @functools.cached_property
    def eager_ops(self) -> list[Key]:
        """Keys of the eager ops that ran; a forked process takes over its parent's definitions too."""
        return [key for key in self.of_kind("op") if key.count != 0]

    @functools.cached_property
    def scopes(self) -> dict[tuple[object, ...], int]:
        """(type, line, device, device asked for) of an eager op -> location of what opened its scope."""
        names = ("op", "loc", "device", "requested")
        return {
            tuple(op.fields.get(name) for name in names): op.fields["scope_loc"]
            for op in self.of_kind("op")
            if op.fields.get("scope_loc")
        }

    @functools.cached_property
    def gradients(self) -> dict[tuple[object, object, object], frozenset[str]]:
        """(type, line, device) of an eager backward op -> devices that its forward ops' lines asked for."""
        asked: dict[object, set[str]] = {}
        for op in self.of_kind("op"):
            asked.setdefault(op.fields.get("loc"), set()).add(op.fields.get("requested") or "")
        found: dict[tuple[object, object, object], set[str]] = {}
        for op in self.of_kind("op"):
            if op.fields.get("forward_loc"):
                backward = op.fields.get("op"), op.fields.get("loc"), op.fields.get("device")
                found.setdefault(backward, set()).update(asked.get(op.fields["forward_loc"], ()))
        return {backward: frozenset(devices - {""}) for backward, devices in found.items()}

    @functools.cached_property
    def gradients_of(self) -> dict[object, list[str]]:
        """Line of eager backward ops -> the devices that their forward ops were asked for on, if several."""
        found: dict[object, set[str]] = {}
        for op in self.of_kind("op"):
            if wanted := op.fields.get("forward_requested"):
                found.setdefault(op.fields.get("loc"), set()).add(wanted)
        return {line: sorted(devices) for line, devices in found.items() if len(devices) > 1}

    @functools.cached_property
    def own_devices(self) -> frozenset[str]:
        """The devices that the frameworks said they have; empty when none said so."""
        return frozenset(device for process in self.processes for device in process.devices)

    @functools.cached_property
    def default_devices(self) -> dict[str, str]:
        """Role ('' for none) -> where ops of its process go that nobody placed, of those that told it."""
        told: dict[str, str] = {}
        for process in self.processes:
            device, prefix = process.header.get("default_device"), role_prefix(process.header)
            if isinstance(device, str) and device:
                told.setdefault(prefix.rstrip("/"), qualified(prefix, device))
        return told

    @functools.cached_property
    def stand_ins(self) -> frozenset[str]:
        """Devices that only play GPUs."""
        return frozenset(
            device
            for process in self.processes
            for device, facts in process.device_map.items()
            if facts.get("stand_in")
        )

    @functools.cached_property
    def steps(self) -> int | None:
        """Optimizer applications in the run; None when it has none.

        Of several processes the most. Optimizers that take turns make a step together; those of loops that
        follow each other add up.
        """
        of_processes = (
            sum(course.steps for course in courses(marks, self.totals, self.paces.in_turn))
            for marks in step_marks(self.keys).values()
        )
        return max(of_processes, default=0) or None

    @functools.cached_property
    def steps_between_windows(self) -> int:
        """Steps, as `steps` counts them, that were not recorded in full.

        The recorder counts each application of an optimizer: more, where several make a step together.
        """
        skipped = sum(row.count for row in self.unseen if row.what == BETWEEN_WINDOWS)
        applied = sum(mark.count or 0 for marks in step_marks(self.keys).values() for mark in marks)
        return round(skipped * self.steps / applied) if self.steps and applied else skipped

    def is_sampled(self, key: Key) -> bool:
        """Return True if some executions of a key were not observed but follow from others."""
        return is_sampled(key, self.totals.get(key.id), self.steps_between_windows > 0)

    @functools.cached_property
    def span_ns(self) -> int:
        """From the first recorded event to the end of the last; 0 where there is none."""
        with_events = [sums for sums in self.totals.values() if sums.events]
        first = min((sums.first_ns for sums in with_events), default=0)
        return max((sums.end_ns for sums in with_events), default=0) - first


def _heirs(processes: list[Process]) -> set[int]:
    """Which processes, by index, began with definitions that need not have happened in them."""
    return {process.index for process in processes if process.header.get("process") in _HEIRS}


def tables_of(store: RunStore) -> Tables:
    """A snapshot of an open run."""
    processes = store.processes()
    heirs, keys = _heirs(processes), store.keys()
    return Tables(
        processes,
        store.locations(),
        store.graphs(),
        [key for key in keys if key.count != 0 or key.id >> 32 not in heirs],
        store.unseen(),
        store.totals(),
        store.nodes,
        store.edges,
        store.events_of,
        store.first_events,
        _texts(store),
        store.paces(),
        store.single_events,
    )


def files_of(locations: Mapping[int, Location]) -> dict[str, tuple[str, ...]]:
    """A path as sites have it -> absolute paths; several where processes started in several folders."""
    files = grouped((one.site.rpartition(":")[0], one.file) for one in locations.values())
    return {path: tuple(dict.fromkeys(known)) for path, known in files.items()}


def _texts(store: RunStore) -> Callable[[str], str | None]:
    files = files_of(store.locations())
    return functools.cache(lambda path: kept_text(store.path, files.get(path, ())))
