"""Which card is which: nvidia-smi's number, CUDA's, the frameworks'; and what a value would show."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import streamlit as st

from app.components.table.table import Column, Look, table
from app.views.text import escape_markdown
from app.web.machine.machine_cards import card_name, no_cards, question_lines, unread_lines, unread_reason
from probes.nvml.missing import is_missing
from runners.environments.frameworks import FRAMEWORKS
from runners.machine.cuda_order import (
    FASTEST_FIRST,
    PCI_BUS_ID,
    Order,
    Visible,
    mig_of,
    order_name,
    orders,
    visible,
    with_ordinals,
)
from runners.machine.gpus import Gpu, Gpus, gpus_of

COLUMNS = (
    Column("index", "nvidia-smi", "number", help="GPU 0 on this page; --devices takes it as gpu:0"),
    Column("name", "Card", "label"),
    Column("pci", "CUDA by PCI bus", "number", help="CUDA's number with CUDA_DEVICE_ORDER=PCI_BUS_ID"),
    Column("fastest", "CUDA, fastest first", "number", help="CUDA's number unless CUDA_DEVICE_ORDER is set"),
    *(
        Column(one.name, one.title, "site", help="In a program that is started from this environment")
        for one in FRAMEWORKS.values()
    ),
    Column("uuid", "UUID", "site"),
    Column("bus", "PCI bus id", "site", width="100%"),
)
_CUDA_COLUMN = Column("cuda", "CUDA", "number")
_FRAMEWORK_COLUMNS = tuple(Column(one.name, one.title, "site") for one in FRAMEWORKS.values())
ENTRY_COLUMNS = (
    Column("place", "", "number"),
    Column("entry", "Entry", "code", width="16em"),
    Column("seen", "Seen", "badge"),
    _CUDA_COLUMN,
    *_FRAMEWORK_COLUMNS,
    Column("card", "Card", "label"),
    Column("verdict", "Why", "text", width="100%"),
)
DEVICE_COLUMNS = (_CUDA_COLUMN, *_FRAMEWORK_COLUMNS, Column("card", "Card", "label", width="100%"))
HERE, UNSET, SET = "as-here", "not-set", "set-to"
_BOUND: Any = "query-params"
_WAY, _TYPED = "visible-as", "visible-typed"
_WAYS = {HERE: "As it is here", UNSET: "Not set", SET: "Set to"}
_ORDERS = {FASTEST_FIRST: "Fastest first (CUDA's default)", PCI_BUS_ID: "PCI_BUS_ID"}
_SKIPS = " ".join(one.numbering for one in FRAMEWORKS.values() if one.numbering)
_THEIR_NUMBERS = " and ".join(f"{one.title}'s" for one in FRAMEWORKS.values()) + " numbers"


def order_section(
    snapshot: dict[str, Any], environment: Mapping[str, str] | None = None, recorded: bool = False
) -> None:
    """Draws the index map of a machine, and what a CUDA_VISIBLE_DEVICES value shows of it.

    `environment` is a program's, by default this server's; a recording's is taken for empty.
    """
    if environment is None:
        environment = {} if recorded else os.environ
    found = gpus_of(snapshot)
    if not found.cards:
        st.caption(f"There is no card to number: {escape_markdown(no_cards(snapshot))}.")
        return
    numbered, basis = snapshot, ""
    if any("cuda_ordinals" not in gpu for gpu in snapshot["gpus"]):
        numbered = with_ordinals(snapshot, environment, here=not recorded)
        fastest = orders(found.cards, complete=found.problem is None, here=not recorded).fastest_first
        basis = f"{fastest.basis}: {fastest.reason}"
    if recorded:
        st.caption(f"{_THEIR_NUMBERS} are those of a program without CUDA's variables.")
    else:
        st.caption(escape_markdown(told_environment(environment)))
    rows = index_rows(numbered)
    table(COLUMNS, rows, "order", label="Which card is which", look=Look(searchable=99))
    names = {str(gpu["index"]): card_name(gpu) for gpu in numbered["gpus"] if not unread_reason(gpu)}
    readable = [row for row in rows if row["id"] in names]
    for line in (*unread_lines(numbered), *question_lines(readable, names)):
        st.caption(escape_markdown(line))
    st.caption(escape_markdown(order_note(numbered, found, basis)))
    _box(numbered, found, environment)


def told_environment(environment: Mapping[str, str]) -> str:
    """What of the environment decides which cards a program sees, in a sentence."""
    told = " and ".join(
        f"{name} is {repr(environment[name]) if name in environment else 'not set'}"
        for name in ("CUDA_DEVICE_ORDER", "CUDA_VISIBLE_DEVICES")
    )
    return f"Where this server runs, {told}; {_THEIR_NUMBERS} are those of a program there."


def index_rows(snapshot: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One row a card of a snapshot that has CUDA's numbers."""
    rows = []
    for gpu in snapshot["gpus"]:
        own, numbers = gpu.get("cuda_ordinal"), gpu.get("cuda_ordinals")
        numbers = {PCI_BUS_ID: numbers, FASTEST_FIRST: numbers} if is_missing(numbers) else numbers or {}
        cells = {
            "index": _number(gpu["index"]),
            "name": _name(gpu),
            "pci": _number(numbers.get(PCI_BUS_ID)),
            "fastest": _number(numbers.get(FASTEST_FIRST)),
            **{one.name: _of(own, one.device) for one in FRAMEWORKS.values()},
            "uuid": _text(gpu.get("uuid")),
            "bus": _text(gpu.get("pci_bus_id")),
        }
        rows.append({"id": str(gpu["index"]), "cells": cells})
    return rows


def order_note(snapshot: Mapping[str, Any], gpus: Gpus, basis: str = "") -> str:
    """Where the numbers differ; `basis` is what CUDA's default order rests on, '' where that is not known."""
    pci, fastest = (order_of(snapshot, gpus, name) for name in (PCI_BUS_ID, FASTEST_FIRST))
    if fastest.ordinals is None:
        return f"CUDA's default order is not known: {fastest.reason}. {_SKIPS}"
    smi = {card.uuid: card.index for card in gpus.cards}
    alike = dict(fastest.ordinals) == smi and dict(pci.ordinals or {}) == smi
    told = "CUDA counts these cards as nvidia-smi does, in either order" if alike else "The numbers differ"
    if not alike and dict(pci.ordinals or {}) == smi:
        told = "CUDA counts these cards as nvidia-smi does only with CUDA_DEVICE_ORDER=PCI_BUS_ID"
    how = f" Fastest first is {basis}." if basis else ""
    return f"{told}.{how} {_SKIPS}"


def order_of(snapshot: Mapping[str, Any], gpus: Gpus, name: str) -> Order:
    """CUDA's order as a snapshot with CUDA's numbers has it."""
    # By nvidia-smi's number: the UUID of a lost card may be a reason in place of one.
    told = {gpu["index"]: gpu.get("cuda_ordinals") or {} for gpu in snapshot["gpus"]}
    numbers = {card.uuid: told.get(card.index, {}) for card in gpus.cards}
    ordinals = {uuid: one if is_missing(one) else one.get(name) for uuid, one in numbers.items()}
    known = {uuid: number for uuid, number in ordinals.items() if isinstance(number, int)}
    if len(known) == len(gpus.cards):
        return Order(known, "", "")
    reasons = [str(number["reason"]) for number in ordinals.values() if is_missing(number) and number]
    return Order(None, "unknown", reasons[0] if reasons else "it was not told")


def _box(snapshot: dict[str, Any], gpus: Gpus, environment: Mapping[str, str]) -> None:
    """What a value of the two variables shows, entry by entry; what is asked stands in the address."""
    st.markdown("**What would a program see?**")
    with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
        order = st.selectbox(
            "CUDA_DEVICE_ORDER",
            list(_ORDERS),
            index=list(_ORDERS).index(order_name(environment.get("CUDA_DEVICE_ORDER"))),
            format_func=_ORDERS.__getitem__,
            key="device-order",
            bind=_BOUND,
            width=270,
        )
        way = st.segmented_control(
            "CUDA_VISIBLE_DEVICES",
            list(_WAYS),
            format_func=_WAYS.__getitem__,
            # A default beside a value that was just set makes Streamlit log a warning.
            default=None if st.session_state.pop(_TYPED, False) else HERE,
            required=True,
            key=_WAY,
            bind=_BOUND,
            width="content",
        )
        text = st.text_input(
            "The value to set",
            key="visible-devices",
            bind=_BOUND,
            placeholder="2,0 or GPU-8932f937 or MIG-.. ; empty hides all",
            on_change=_choose_set,
        )
    value = {HERE: environment.get("CUDA_VISIBLE_DEVICES"), UNSET: None, SET: text}[str(way)]
    seen = visible(gpus.cards, value, order_of(snapshot, gpus, order).ordinals, mig_of(snapshot))
    st.markdown(f"{escape_markdown(seen.note[:1].upper() + seen.note[1:])}.")
    rows = entry_rows(seen)
    if rows:
        shown = ENTRY_COLUMNS if seen.entries else DEVICE_COLUMNS
        table(shown, rows, "visible", label="What each entry gives", look=Look(searchable=99))


def _choose_set() -> None:
    """A value that is typed is meant to be set."""
    st.session_state[_WAY] = SET
    st.session_state[_TYPED] = True


def entry_rows(seen: Visible) -> list[dict[str, Any]]:
    """One row an entry; where the variable is not set, one a device."""
    if not seen.entries:
        return [_device_row(place, card, seen.mig) for place, card in enumerate(seen.devices)]
    rows = []
    for place, entry in enumerate(seen.entries):
        taken = entry.ordinal is not None
        cells = {
            "place": _number(place + 1),
            "entry": {"text": entry.text if entry.text.strip() else "(empty)"},
            "seen": {
                "text": "yes" if taken else "no",
                "tone": ("good" if entry.documented else "odd") if taken else _tone(entry.verdict),
            },
            **_numbers(entry.ordinal),
            "card": _card(entry.card, entry.mig),
            "verdict": {"text": entry.verdict},
        }
        rows.append({"id": str(place), "cells": cells})
    return rows


def _device_row(place: int, card: Gpu | None, mig: str | None) -> dict[str, Any]:
    known = _card(card, mig) if card is not None else {"text": "not known: CUDA's order here is not"}
    return {"id": str(place), "cells": {**_numbers(place), "card": known}}


def _tone(verdict: str) -> str:
    return "alert" if verdict.startswith("ends the list") else "quiet"


def _numbers(ordinal: int | None) -> dict[str, dict[str, Any]]:
    return {
        "cuda": {"text": "" if ordinal is None else str(ordinal), "sort": -1 if ordinal is None else ordinal},
        **{
            one.name: {"text": "" if ordinal is None else one.device.format(ordinal)}
            for one in FRAMEWORKS.values()
        },
    }


def _card(card: Gpu | None, mig: str | None) -> dict[str, str]:
    if card is None:
        return {"text": ""}
    name = f"{card_name(card)} · {card.name}"
    return {"text": f"{name} · {mig}" if mig else name, "title": card.uuid}


def _name(gpu: Mapping[str, Any]) -> dict[str, Any]:
    name, reason = gpu.get("name"), unread_reason(gpu)
    if reason is None:
        return _text(name)
    known = f" · {name}" if isinstance(name, str) else ""
    return {"text": f"cannot be read{known}", "title": f"{reason}{known}"}


def _number(value: Any) -> dict[str, Any]:
    if is_missing(value) or value is None:
        return {"text": "?", "sort": -1, "title": value["reason"] if value else ""}
    return {"text": str(value), "sort": value}


def _text(value: Any) -> dict[str, Any]:
    return {"text": "?", "title": value["reason"]} if is_missing(value) else {"text": str(value or "")}


def _of(ordinal: Any, form: str) -> dict[str, Any]:
    if is_missing(ordinal) or ordinal is None:
        reason = str(ordinal["reason"]) if ordinal else ""
        return {"text": "hidden" if reason.startswith("hidden") else "?", "title": reason}
    return {"text": form.format(ordinal)}
