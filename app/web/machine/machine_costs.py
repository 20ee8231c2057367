"""What a hop costs on this machine: bandwidth and latency between cards and host, and their measuring."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import streamlit as st

from app.components.table.table import Column, Look, table
from app.views import units
from app.views.text import escape_markdown
from app.web.machine.machine_cards import card_name, no_cards, unread_lines
from runners.machine import copy_measuring
from runners.machine.copy_costs import HOST, PAGEABLE, PINNED, Costs, Pair, load
from runners.machine.gpus import Gpu, gpus_of
from runners.runs import registry

_POLL_S = 0.5
_WARNING = (
    "It copies up to 64 MiB to and fro between every two cards and the host, for a minute at most and mostly "
    "for seconds. Meanwhile it holds a context and 128 MiB on each card (some 500 MiB in all), and whatever "
    "else runs there slows down. Cards in exclusive or MIG mode or with less than 1 GiB free are left out."
)
_HEAD_HELP = (
    "Of a large copy, the darker the faster; beside it what the smallest one takes, from asking for it to its"
    " being done, and between two cards the way"
)
_WAYS = {True: "direct", False: "through the host"}


def costs_section(snapshot: dict[str, Any], operator: bool) -> None:
    """Draws what was measured of this machine's cards; operators can measure anew."""
    gpus = gpus_of(snapshot)
    if not gpus.cards:
        why = escape_markdown(no_cards(snapshot))
        st.caption(f"There is nothing to copy between: {why}. Copies between stand-ins cost nothing.")
        return
    driver = snapshot.get("driver") if isinstance(snapshot.get("driver"), str) else None
    cards = [card.uuid for card in gpus.cards]
    costs = load(driver=driver, any_of=cards)
    if costs is not None:
        _draw(costs, gpus.cards)
    else:
        older = load(any_of=cards)
        st.caption(
            "Not measured yet: then the hops of runs have bytes, and no times."
            if older is None
            else escape_markdown(f"Measured with driver {older.driver}, and not yet with this one, {driver}.")
        )
    for line in unread_lines(snapshot):
        st.caption(escape_markdown(line))
    measuring = copy_measuring.shared()
    polling = st.fragment(_measure, run_every=_POLL_S if measuring.running else None)
    polling(gpus.cards, operator, measuring.running)


def _measure(cards: Sequence[Gpu], operator: bool, drawn_running: bool) -> None:
    """The button, or how far the measuring is; all who look see the same."""
    measuring = copy_measuring.shared()
    progress = measuring.progress
    if drawn_running and not measuring.running:
        st.rerun()
    if progress is not None:
        done, of, text = progress
        st.progress(
            done / of if of else 0.0, text=f"{done} of {of} pairs: {escape_markdown(named(text, cards))}"
        )
        return
    if measuring.problem:
        st.error(escape_markdown(named(measuring.problem, cards)), icon=":material/block:")
    if not operator:
        st.caption("Measuring takes the operator's address.")
        return
    busy = busy_words()
    st.caption(_WARNING)
    if busy:
        st.warning(escape_markdown(busy), icon=":material/hourglass_top:")
    if st.button("Measure copies", icon=":material/speed:", key="measure-copies"):
        measuring.start()
        st.rerun()


def busy_words() -> str:
    """Which runs would be slowed down by measuring now; '' for none."""
    names = [run.id for run in registry.runs() if not run.ended and (run.spec.get("sampled_gpus") or [])]
    if not names:
        return ""
    return f"{units.plural(len(names), 'run')} on GPUs would be slowed down: {', '.join(names)}"


def _draw(costs: Costs, cards: Sequence[Gpu]) -> None:
    table(
        columns(costs, cards),
        cost_rows(costs, cards),
        "costs",
        label="What copies cost",
        look=Look(searchable=99),
    )
    made = time.strftime("%Y-%m-%d %H:%M", time.localtime(costs.made))
    driver = f", driver {costs.driver}" if costs.driver else ""
    how = f"on {costs.host} on {made}{driver}, with copies of {units.size(costs.size_bytes)} and of 4 B"
    st.caption(
        f"Rows send, columns receive. Measured {escape_markdown(how)}. "
        "Pinned memory is what input pipelines copy from at best; pageable is Python's and numpy's, and what "
        "estimated times count with."
    )
    for line in left_out(costs, cards):
        st.caption(escape_markdown(line))


def columns(costs: Costs, cards: Sequence[Gpu]) -> tuple[Column, ...]:
    """One for the sender, one a card, and the host in both kinds of memory."""
    shown = _measured(costs, cards)
    heads = [Column(f"to-{card.uuid}", card_name(card), "number", help=_HEAD_HELP) for card in shown]
    hosts = [Column(f"to-{kind}", f"host, {kind}", "number", help=_HEAD_HELP) for kind in (PINNED, PAGEABLE)]
    return (Column("from", "", "label"), *heads, *hosts)


def cost_rows(costs: Costs, cards: Sequence[Gpu]) -> list[dict[str, Any]]:
    """One row a sender: each card, and the host in both kinds of memory; one unit and digits in all."""
    shown = _measured(costs, cards)
    uuids = {card.uuid for card in shown}
    fastest = max(
        (one.bytes_per_second for one in costs.pairs if {one.src, one.dst} <= {*uuids, HOST}), default=0.0
    )

    def cell(src: str, dst: str, memory: str = PAGEABLE) -> dict[str, Any]:
        return _cost(costs.pair(src, dst, memory), fastest)

    rows = []
    for card in shown:
        cells: dict[str, Any] = {"from": {"text": card_name(card), "title": card.name}}
        cells |= {f"to-{one.uuid}": cell(card.uuid, one.uuid) for one in shown}
        cells |= {f"to-{kind}": cell(card.uuid, HOST, kind) for kind in (PINNED, PAGEABLE)}
        rows.append({"id": card.uuid, "cells": cells})
    for kind in (PINNED, PAGEABLE):
        cells = {"from": {"text": f"host, {kind}"}}
        cells |= {f"to-{one.uuid}": cell(HOST, one.uuid, kind) for one in shown}
        cells |= {f"to-{other}": {"text": "", "sort": -1} for other in (PINNED, PAGEABLE)}
        rows.append({"id": kind, "cells": cells})
    return rows


def left_out(costs: Costs, cards: Sequence[Gpu]) -> list[str]:
    """What was not measured and why, a line each."""
    names = {card.uuid: card_name(card) for card in cards}
    lines: dict[str, None] = {}
    for row in costs.skipped:
        src = names.get(str(row.get("src")), str(row.get("src")))
        dst = row.get("dst")
        pair = f"{src} to {names.get(str(dst), str(dst))}" if dst else src
        lines[f"Not measured: {pair}: {row.get('reason')}"] = None
    return list(lines)


def named(text: str, cards: Sequence[Gpu]) -> str:
    """A text with cards' names in place of their UUIDs."""
    for card in cards:
        text = text.replace(card.uuid, card_name(card))
    return text


def _measured(costs: Costs, cards: Sequence[Gpu]) -> list[Gpu]:
    return [card for card in cards if card.uuid in costs.uuids]


def _cost(pair: Pair | None, fastest: float) -> dict[str, Any]:
    if pair is None:
        return {"text": "?", "sort": -1, "title": "not measured"}
    unit = units.size_unit(fastest)
    number = pair.bytes_per_second / units.size_factor(unit)
    between = HOST not in (pair.src, pair.dst) and pair.src != pair.dst
    way = f" · {_WAYS[bool(pair.peer)]}" if between else ""
    shade = pair.bytes_per_second / fastest if fastest else 0.0
    return {
        "text": f"{number:,.1f} {unit}/s",
        "remark": f"{units.duration(pair.latency_seconds)}{way}",
        "sort": pair.bytes_per_second,
        "shade": round(shade, 2),
    }
