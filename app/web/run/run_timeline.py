"""The timeline tab: the whole run in bins with what was sampled, and a stretch of it bar by bar."""

from __future__ import annotations

import dataclasses
import itertools

import streamlit as st

from app.components.figure.figure import live_figure
from app.views import units
from app.views.sample_words import Moments
from app.views.text import escape_markdown
from app.views.timeline import overview_figure
from app.views.timeline_data import COUNTED_S, Binned, Overview
from app.views.timeline_window import window_figure, within
from app.web.run.run_page import Page
from app.web.run.run_samples import RunSamples, run_samples, words_without

_BINS = 240
_WINDOW_BINS = 4
_LEAST_DRAWN = 3
"""Samples in a stretch from which on they are drawn as curves."""


def timeline_view(page: Page) -> None:
    """The whole run in bins, with what was sampled; a stretch of it bar by bar."""
    store, devices = page.open.store, page.snapshot.devices
    overview = store.binned(_BINS)
    shown = [binned for binned in overview.lanes if page.focus.shows(binned.lane)]
    window = page.address.window or _middle(overview)
    width = units.duration((overview.t1_s - overview.t0_s) / _BINS)
    if overview.lanes:
        st.caption(
            f"Height: the share of each {width} that is busy, or the number in it; at the right what the "
            "full height is. Drag over a stretch to see its events below."
        )
    sampled = run_samples(page.run, store, page.snapshot)
    curves = sampled.curves(page.focus.devices) if sampled is not None else None
    figure = overview_figure(
        dataclasses.replace(overview, lanes=tuple(shown)), window, devices=devices, samples=curves
    )
    event = live_figure(figure, "overview", events=("select",), label="Activity over the run")
    if event and event["type"] == "select":
        page.go(dataclasses.replace(page.address, window=(max(0.0, event["x0"]), event["x1"])))
    with st.container():
        _remarks(page, sampled)
    if window is None:
        return
    # What is counted together is written down at the end of its stretch, which may lie behind the window.
    part = within(store.window(window[0], window[1] + COUNTED_S), *window)
    lanes = tuple(lane for lane in part.lanes if page.focus.shows(lane))
    kept = {lane.id for lane in lanes}
    bars = tuple(bar for bar in part.bars if bar.lane in kept)
    chosen = "" if page.address.window else ", from the middle"
    st.markdown(
        f"**From {units.duration(window[0])} to {units.duration(window[1])}** :gray["
        f"{units.duration(window[1] - window[0])}{chosen}]"
    )
    st.caption(
        "The first 200 of an op, a transfer or a wait at a line are drawn one by one, later ones as pale "
        f"ranges, counted per {units.duration(COUNTED_S)}. Transfers inside a graph are counted above, "
        "with its calls, and not drawn here."
    )
    narrowed = dataclasses.replace(part, lanes=lanes, bars=bars)
    closer = sampled.curves(page.focus.devices, window) if sampled is not None else None
    # What comes and goes has a container of its own: the figure after it would be mounted anew otherwise.
    with st.container():
        if sampled is not None and closer is not None and Moments(closer).within(*window) < _LEAST_DRAWN:
            # Too short a stretch for a curve: its one sample, or the nearest, is said in words.
            closer = None
            if words := sampled.nearest(window, page.focus.devices):
                st.caption(escape_markdown(words))
    figure = window_figure(narrowed, devices=devices, samples=closer)
    event = live_figure(figure, "window", label="Events of the stretch")
    if event and isinstance(event.get("customdata"), list):
        _pick_bar(page, event["customdata"][0])


def _remarks(page: Page, sampled: RunSamples | None) -> None:
    """What there is to say of the samples, also where there are none."""
    words = words_without(sampled, page.snapshot.spec, page.ended)
    told = [words] if words or sampled is None else sampled.remarks()
    if told:
        st.caption(escape_markdown(". ".join(line.rstrip(".") for line in told) + "."))


def _middle(overview: Overview) -> tuple[float, float] | None:
    """A short stretch in the middle of the busiest lane's training, where the reader has chosen none."""
    busiest = max(overview.lanes, key=_activity, default=None)
    if busiest is None or overview.t1_s <= overview.t0_s:
        return None
    width = (overview.t1_s - overview.t0_s) / len(busiest.values)
    training = next((phase.t0_s for phase in overview.phases if phase.name == "training"), overview.t0_s)
    values = [
        value if overview.t0_s + index * width >= training else 0.0
        for index, value in enumerate(busiest.values)
    ]
    so_far = list(itertools.accumulate(values))
    at = next(index for index, reached in enumerate(so_far) if reached >= so_far[-1] / 2)
    middle = overview.t0_s + (at + 0.5) * width
    reach = _WINDOW_BINS * width / 2
    return max(overview.t0_s, middle - reach), min(overview.t1_s, middle + reach)


def _activity(binned: Binned) -> tuple[bool, float]:
    return binned.lane.kind == "call", sum(binned.values)


def _pick_bar(page: Page, key: object) -> None:
    row = next((row for row, hop in enumerate(page.snapshot.hops) if key in hop.keys), None)
    if row is not None:
        page.go(dataclasses.replace(page.address.with_filter(), hop=row))
        return
    known = next((known for known in page.snapshot.tables.keys if known.id == key), None)
    if known is not None and known.kind in ("call", "node") and known.fields.get("graph"):
        page.go(dataclasses.replace(page.address, graphs=(str(known.fields["graph"]),)))
