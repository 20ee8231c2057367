"""How near the cards are to each other, and whether they reach each other's memory: two matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from app.components.table.table import Column, Look, table
from app.views.text import escape_markdown
from app.web.machine.machine_cards import card_name, no_cards, question_lines, unread_lines, unread_reason
from probes.nvml.missing import is_missing

LEGEND = {
    "NV#": "joined by that many NVLinks",
    "PIX": "one PCIe switch between them, or one board",
    "PXB": "several PCIe switches, not the host's bridge",
    "PHB": "through the PCIe bridge of one processor",
    "NODE": "through several bridges of one NUMA node",
    "SYS": "through the link between processors: the slowest way",
}
"""As nvidia-smi shortens it, from near to far."""
_TONES = {"NV": "good", "PIX": "good", "SYS": "odd"}
_KINDS = {"read": "read", "write": "write", "nvlink": "over NVLink", "atomics": "atomics"}
_OK = "ok"


def matrices_section(snapshot: dict[str, Any]) -> None:
    """Draws both matrices of a machine; says why where there are not two cards."""
    gpus = snapshot["gpus"]
    if not gpus:
        st.caption(f"There are no cards: {escape_markdown(no_cards(snapshot))}.")
        return
    if len(gpus) == 1:
        st.caption("There is one card, so there is no way between cards.")
        return
    st.markdown("**How near the cards are**")
    rows = topology_rows(snapshot)
    table(columns(gpus), rows, "topology", label="The way between each two cards", look=Look(searchable=99))
    _questions(snapshot, rows)
    met = [f"`{short}` {words}" for short, words in LEGEND.items() if short in shorts(snapshot)]
    if met:
        st.caption(" · ".join(met))
    st.markdown("**Who reaches whose memory directly**")
    rows = peer_rows(snapshot)
    table(columns(gpus), rows, "peers", label="Peer access between each two cards", look=Look(searchable=99))
    _questions(snapshot, rows)
    st.caption(
        "A row's card reads and writes the memory of a column's card over PCIe or NVLink. Where it does not, "
        "a copy between them goes through the host's memory."
    )


def _questions(snapshot: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> None:
    """Why there is a `?`: a card that cannot be read, else what is said of each two."""
    names = {str(gpu["index"]): card_name(gpu) for gpu in snapshot["gpus"] if not unread_reason(gpu)}
    kept = {f"to{index}" for index in names}
    between = [
        {**row, "cells": {name: cell for name, cell in row["cells"].items() if name in kept}}
        for row in rows
        if row["id"] in names
    ]
    for line in (*unread_lines(snapshot), *question_lines(between, names)):
        st.caption(escape_markdown(line))


def columns(gpus: Sequence[Mapping[str, Any]]) -> tuple[Column, ...]:
    """One for the row's card and one a card."""
    heads = [Column(f"to{gpu['index']}", card_name(gpu), "badge") for gpu in gpus]
    return (Column("from", "", "label"), *heads)


def topology_rows(snapshot: Mapping[str, Any]) -> list[dict[str, Any]]:
    """How near each card is to each other."""
    return _rows(snapshot, "topology", _near)


def peer_rows(snapshot: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What each card may do with each other's memory."""
    return _rows(snapshot, "p2p", _peer)


def shorts(snapshot: Mapping[str, Any]) -> set[str]:
    """The levels that the matrix has, as the legend names them."""
    cells = [cell for row in _matrix(snapshot, "topology") for cell in row if not is_missing(cell)]
    return {"NV#" if _links(cell) else str(cell["short"]) for cell in cells if not is_missing(cell["short"])}


def _matrix(snapshot: Mapping[str, Any], name: str) -> Sequence[Any]:
    matrix = snapshot[name]
    return [] if is_missing(matrix) else [[] if is_missing(row) else row for row in matrix]


def _links(cell: Mapping[str, Any]) -> int:
    links = cell.get("nvlinks")
    return 0 if is_missing(links) or links is None else int(links)


def _rows(snapshot: Mapping[str, Any], name: str, told: Any) -> list[dict[str, Any]]:
    rows = []
    gpus, matrix = snapshot["gpus"], _matrix(snapshot, name)
    none = snapshot[name] if is_missing(snapshot[name]) else None
    for place, gpu in enumerate(gpus):
        cells: dict[str, Any] = {"from": {"text": card_name(gpu), "title": _name(gpu)}}
        for other, peer in enumerate(gpus):
            cell = matrix[place][other] if place < len(matrix) and other < len(matrix[place]) else none
            shown = {"text": "same", "tone": "quiet"} if place == other else told(cell)
            cells[f"to{peer['index']}"] = shown
        rows.append({"id": str(gpu["index"]), "cells": cells})
    return rows


def _near(cell: Mapping[str, Any] | None) -> dict[str, Any]:
    if cell is None or is_missing(cell):
        return _unknown(cell)
    links = _links(cell)
    if not links and is_missing(cell["short"]):
        return _unknown(cell["short"])
    short = f"NV{links}" if links else str(cell["short"])
    title = f"{links} NVLinks; by PCIe: {cell['level']}" if links else str(cell["level"])
    return {"text": short, "tone": _TONES.get("NV" if links else short, "quiet"), "title": title}


def _peer(cell: Mapping[str, Any] | None) -> dict[str, Any]:
    if cell is None or is_missing(cell):
        return _unknown(cell)
    title = "\n".join(f"{words}: {_state(cell.get(name))}" for name, words in _KINDS.items())
    read, write = cell.get("read"), cell.get("write")
    if read == _OK and write == _OK:
        over = " · NVLink" if cell.get("nvlink") == _OK else ""
        return {"text": f"yes{over}", "tone": "good", "title": title}
    if _OK in (read, write):
        return {"text": "reads only" if read == _OK else "writes only", "tone": "odd", "title": title}
    return {"text": "no", "tone": "quiet", "title": title}


def _state(value: Any) -> str:
    return str(value["reason"]) if is_missing(value) else str(value)


def _unknown(cell: Mapping[str, Any] | None) -> dict[str, Any]:
    return {"text": "?", "tone": "quiet", "title": str(cell["reason"]) if cell else "not told"}


def _name(gpu: Mapping[str, Any]) -> str:
    name = gpu.get("name")
    return name if isinstance(name, str) else ""
