"""The Source tab of a run's page: a line narrows the other tabs down, what they pick is marked here."""

from __future__ import annotations

import dataclasses

import streamlit as st

from app.web.run.run_page import Page
from app.web.shared.source_section import Place, source_section

_PICK = "Pick a line to see what it ran and moved, and to narrow the other tabs down to it."


def source_view(page: Page) -> None:
    """One file at a time, and what the picked line did."""
    if not page.snapshot.files:
        st.caption(page.stage.empty or "No line of your code ran anything on a device.")
        return
    address = page.address
    place = Place(address.file, address.line)
    gone = source_section(page.run, page.snapshot, page.row_maker, place, lit=_lit(page), pick=_PICK)
    if gone is None:
        return
    if gone.line or address.line:
        address = address.with_filter(line=gone.line)
    page.go(dataclasses.replace(address, file=gone.file))


def _lit(page: Page) -> dict[str, list[int]]:
    """The lines of each file whose transfers belong to what is picked in another view."""
    shown = page.focus.rows
    if shown is None:
        return {}
    return {
        file.path: [number for number, line in sorted(file.lines.items()) if line.hops & shown]
        for file in page.snapshot.files
    }
