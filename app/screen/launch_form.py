"""The Launch page's widgets; what is chosen stands in the address, so a prepared launch can be shared."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import streamlit as st

from app.screen.launch_words import option_help, option_label, title_of
from app.views.text import escape_markdown
from runners.catalogue import PROGRAMS, Option, Program, Value
from runners.devices import MOST_STAND_INS
from runners.frameworks import FRAMEWORKS
from runners.gpus import Gpu

MOST_STEPS = 10_000_000
STAND_INS, GPUS = "stand-ins", "gpus"
_BOUND: Any = "query-params"
_LIST_HEIGHT = 560
"""Pixels: with it the page's other parts stand beside and above the list, not under it."""
_LEAST = {"count": 1, "natural": 0}
_PLACEHOLDERS = {"split": "even shares"}
"""What an option without a default does."""
_STAND_INS = (
    "Stand-ins are parts of the host, cpu:1 and up, that play GPUs: the framework really places, copies and "
    "reduces across them. Copy times between them mean nothing."
)
_EXACT_LINES = (
    "One operation runs at a time, so that copies which the framework makes by itself are measured at the "
    "line that causes them, not inferred. Times and overlap are then not those of a normal run."
)


@dataclasses.dataclass(frozen=True)
class Devices:
    """Which devices a launch gets: GPUs in order, or a number of stand-ins."""

    names: tuple[str, ...] = ()
    stand_ins: int | None = None

    def shown(self) -> list[str]:
        """Their names, as options of a program may give them."""
        return [f"cpu:{index}" for index in range(1, self.stand_ins + 1)] if self.stand_ins else [*self.names]


def choose_framework() -> str:
    """Whose programs are shown: the framework of the program that the address names, or the first."""
    names = list(dict.fromkeys(program.framework for program in PROGRAMS.values()))
    wanted = PROGRAMS.get(st.query_params.get("program", ""))
    return st.segmented_control(
        "Framework",
        names,
        format_func=title_of,
        default=wanted.framework if wanted else names[0],
        required=True,
        key="chosen-framework",
        label_visibility="collapsed",
        width="stretch",
    )


def choose_program(framework: str) -> Program:
    """The framework's part of the catalogue as a list of titles and summaries; returns the chosen program."""
    programs = [program for program in PROGRAMS.values() if program.framework == framework]
    names = [program.name for program in programs]
    wanted = st.query_params.get("program")
    with st.container(height=_LIST_HEIGHT, border=False, key="programs"):
        name = st.radio(
            "Program",
            names,
            index=names.index(wanted) if wanted in names else 0,
            format_func=lambda name: f"**{escape_markdown(PROGRAMS[name].title)}** `{name}`",
            captions=[escape_markdown(program.summary) for program in programs],
            key=f"chosen-{framework}-program",
            label_visibility="collapsed",
        )
    if wanted or name != next(iter(PROGRAMS)):
        st.query_params["program"] = name
    return PROGRAMS[name]


def choose_devices(program: Program, cards: Sequence[Gpu], usable: Sequence[Gpu]) -> Devices:
    """GPUs in the order in which they are picked, where enough are `usable`; else how many stand-ins."""
    kind = STAND_INS
    if cards:
        kind = st.segmented_control(
            "Devices",
            [GPUS, STAND_INS],
            format_func={GPUS: "GPUs", STAND_INS: "Stand-ins"}.__getitem__,
            default=GPUS if usable and len(usable) >= program.min_devices else STAND_INS,
            required=True,
            key="on",
            bind=_BOUND,
            help=_STAND_INS,
        )
    if kind == GPUS:
        names = {card.device: card for card in cards}
        chosen = st.multiselect(
            "GPUs, in the order in which the program gets them",
            list(names),
            default=[card.device for card in usable or cards][: program.default_devices],
            format_func=lambda name: f"{name} · {names[name].name}" if name in names else name,
            key=f"devices-{program.name}",
            bind=_BOUND,
        )
        return Devices(tuple(chosen))
    number = st.number_input(
        "Stand-in devices",
        min_value=1,
        max_value=MOST_STAND_INS,
        value=program.default_devices,
        key=f"stand-ins-{program.name}",
        bind=_BOUND,
        help=_STAND_INS,
    )
    return Devices(stand_ins=int(number))


def choose_steps(program: Program) -> int:
    """How many steps; what a step is, and how many there are by default, is the program's."""
    key: Any = f"steps-{program.name}"
    return int(st.number_input("Steps", 1, MOST_STEPS, program.default_steps, key=key, bind=_BOUND))


def choose_exact_lines(framework: str) -> bool:
    """Whether to have the framework's mode in which lines are exact; not asked where it has none."""
    if not FRAMEWORKS[framework].exact_lines:
        return False
    return st.checkbox("Exact lines", key="exact-lines", bind=_BOUND, help=_EXACT_LINES)


def choose_options(program: Program, devices: Devices, columns: int = 4) -> dict[str, Value | None]:
    """One widget an option, in columns; returns all values."""
    values: dict[str, Value | None] = {}
    row: list[Any] = []
    for option in program.options:
        row = row or list(st.columns(columns))
        with row.pop(0):
            values[option.name] = _option(option, devices)
    return values


def _option(option: Option, devices: Devices) -> Value | None:
    label, note = option_label(option), escape_markdown(option_help(option))
    key: Any = option.name
    if option.type == "choice":
        values = list(option.values or ())
        index = values.index(str(option.default)) if option.default in values else 0
        return st.selectbox(label, values, index=index, key=key, bind=_BOUND, help=note)
    if option.type == "device":
        return st.selectbox(
            label,
            ["", *devices.shown()],
            format_func=lambda name: name or "the last one",
            key=key,
            bind=_BOUND,
            help=note,
        )
    if option.type in _LEAST:
        least = _LEAST[option.type]
        start = None if option.default is None else int(option.default)
        words = _PLACEHOLDERS.get(option.name)
        chosen = st.number_input(
            label, least, None, start, key=key, bind=_BOUND, help=note, placeholder=words
        )
        return None if chosen is None else int(chosen)
    return st.text_input(
        label,
        "" if option.default is None else str(option.default),
        key=key,
        bind=_BOUND,
        placeholder=_PLACEHOLDERS.get(option.name),
        help=note,
    )
