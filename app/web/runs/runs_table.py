"""The table of all runs as viewers see a part of it: searched, sorted and cut here, once for all of them."""

from __future__ import annotations

import dataclasses
import json
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from app.components.runs.listing import View, Wish
from app.store.progress import last_progress
from app.web.shared import run_rows
from runners.errors import HopscopeError
from runners.runs.purpose import tried
from runners.runs.run import Run
from runners.runs.status import ENDED_STATES, LIVE_STATES

MOST_BROKEN = 200
_PARTS = re.compile(r"(\d+)")
Key = tuple[Any, ...]


@dataclasses.dataclass
class _Entry:
    """What is worked out of one run, for as long as its folder stays as it is."""

    run: Run
    state: str
    told: Key = ()
    """What else the row says that is not of the folder."""
    row: Mapping[str, Any] | None = None
    texts: dict[bool, str] = dataclasses.field(default_factory=dict)
    """The row in JSON, with an operator's buttons and without."""


class RunsTable:
    """The rows of the Runs page; any thread may ask."""

    def __init__(self, runs: Callable[[], Sequence[Run]]) -> None:
        """`runs` gives all runs in their order, and the same object while nothing changed."""
        self._read = runs
        self._guard = threading.Lock()
        self._runs: Sequence[Run] | None = None
        self._entries: dict[str, _Entry] = {}
        self._broken: list[Run] = []
        self._problem = ""

    def look(self) -> None:
        """Look at the registry, and at the states of the runs that go on."""
        try:
            found = self._read()
        except HopscopeError as error:
            with self._guard:
                self._problem = str(error)
            return
        with self._guard:
            self._problem = ""
            if found is not self._runs:
                self._take(found)
            for entry in self._entries.values():
                if entry.state in LIVE_STATES:
                    entry.state = entry.run.judge(current=True)[0]

    def view(self, wish: Wish, operator: bool) -> View:
        """The part of the table that a viewer wishes to see, as it was at the last look."""
        with self._guard:
            entries = list(self._entries.values())
            found = self._chosen(entries, wish)
            shown = found[wish.first : wish.first + wish.count]
            return View(
                head={
                    "problem": self._problem,
                    "total": len(entries),
                    "going_on": sum(entry.state in LIVE_STATES for entry in entries),
                    "found": len(found),
                    "first": wish.first,
                    "unreadable": len(self._broken),
                },
                rows={entry.run.id: self._text(entry, operator) for entry in shown},
                broken={
                    run.id: json.dumps(run_rows.broken_row(run, operator))
                    for run in self._broken[:MOST_BROKEN]
                },
            )

    def _take(self, found: Sequence[Run]) -> None:
        """Keep what is known of the runs that are the same."""
        before, self._runs = self._entries, found
        self._entries, self._broken = {}, []
        for run in found:
            known = before.get(run.id)
            if known is not None and known.run is run:
                self._entries[run.id] = known
                continue
            state = run.judge(current=True)[0]
            if run.problem is not None and state == "lost":
                self._broken.append(run)
            else:
                self._entries[run.id] = _Entry(run, state)

    def _chosen(self, entries: list[_Entry], wish: Wish) -> list[_Entry]:
        """All that a viewer searches for, in the order asked for; without either no row is made."""
        words = wish.find.strip().lower()
        if words:
            entries = [entry for entry in entries if words in _words(self._row(entry))]
        if wish.sort:
            way = wish.way < 0
            entries = sorted(entries, key=lambda entry: _sorted_by(self._row(entry), wish.sort), reverse=way)
        return entries

    def _text(self, entry: _Entry, operator: bool) -> str:
        row = self._row(entry)
        text = entry.texts.get(operator)
        if text is None:
            text = entry.texts[operator] = json.dumps(_for(row, operator), separators=(",", ":"))
        return text

    def _row(self, entry: _Entry) -> Mapping[str, Any]:
        """The row of a run: of an ended one made once, of one that goes on with each look."""
        run, before = entry.run, tried(entry.run)
        known = before is not None and before.of in self._entries
        told = (known, None if run.status.get("state") in ENDED_STATES else run.judge(current=True))
        if entry.row is None or entry.told != told or entry.state in LIVE_STATES:
            row = run_rows.listed_row(run, last_progress(run.path), self._entries)
            if row != entry.row:
                entry.row, entry.texts = row, {}
            entry.told = told
        return entry.row or {}


def _for(row: Mapping[str, Any], operator: bool) -> Mapping[str, Any]:
    return row if operator else {**row, "cells": {**row["cells"], "actions": {"actions": []}}}


def _words(row: Mapping[str, Any]) -> str:
    """All that is read in a row, for the search."""
    words = []
    for cell in row["cells"].values():
        words += [cell.get("text"), cell.get("kind"), cell.get("remark"), (cell.get("of") or {}).get("text")]
        words += [device["device"] for device in cell.get("devices", ())]
    return " ".join(filter(None, words)).lower()


def _sorted_by(row: Mapping[str, Any], column: str) -> Key:
    """Numbers by size before texts, of which numbers in them count as such."""
    cell = row["cells"].get(column, {})
    value = time.time() - cell["since"] if "since" in cell else cell.get("sort", cell.get("text") or "")
    if isinstance(value, int | float):
        return (0, value)
    parts = _PARTS.split(str(value).lower())
    return (1, *((int(part), "") if part.isdecimal() else (-1, part) for part in parts))
