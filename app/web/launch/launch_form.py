"""The Launch page's widgets; what is chosen stands in the address, so a prepared launch can be shared."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Sequence
from typing import Any

import streamlit as st

from app.views.text import escape_markdown
from app.web.launch.card_loads import card_loads, least_busy
from app.web.shared.launch_words import option_help, option_label, title_of
from runners.catalogue import PROGRAMS, Option, Program, Value
from runners.environments.frameworks import FRAMEWORKS
from runners.errors import UsageError
from runners.machine import monitor
from runners.machine.gpus import Gpu
from runners.plan.device_choice import MOST_STAND_INS

MOST_STEPS = 10_000_000
PROGRAM, OWN_SCRIPT = "Program", "Own script"
_OWN = "own"
STAND_INS, GPUS = "stand-ins", "gpus"
_BOUND: Any = "query-params"
_LIST_HEIGHT = 560
"""Pixels: with it the page's other parts stand beside and above the list, not under it."""
_LEAST = {"count": 1, "natural": 0}
_PLACEHOLDERS = {"split": "even shares", "subset": "all", "visible": "all"}
"""What an option without a default does."""
_STAND_INS = (
    "Stand-ins are parts of the host, cpu:1 and up, that play GPUs: the framework really places, copies and "
    "reduces across them. Copy times between them mean nothing."
)


@dataclasses.dataclass(frozen=True)
class Devices:
    """Which devices a launch gets: GPUs in order, or a number of stand-ins."""

    names: tuple[str, ...] = ()
    stand_ins: int | None = None

    def shown(self) -> list[str]:
        """Their names, as options of a program may give them."""
        return [f"cpu:{index}" for index in range(1, self.stand_ins + 1)] if self.stand_ins else [*self.names]


def choose_own() -> bool:
    """Whether a script of the user's own is to be launched, and not a program of the catalogue."""
    start = OWN_SCRIPT if st.query_params.get(_OWN) else PROGRAM
    kind = st.segmented_control(
        "What to launch",
        [PROGRAM, OWN_SCRIPT],
        default=start,
        required=True,
        key="chosen-kind",
        label_visibility="collapsed",
        width="stretch",
    )
    if kind == OWN_SCRIPT:
        st.query_params[_OWN] = "script"
    else:
        st.query_params.pop(_OWN, None)
    return bool(kind == OWN_SCRIPT)


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
    first = next(iter(PROGRAMS))
    if name != (wanted or first):
        # The options in the address are another program's.
        for option in {option.name for program in PROGRAMS.values() for option in program.options}:
            st.query_params.pop(option, None)
    if wanted or name != first:
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
        # Their names stand beside their load: in the address they would be another machine's.
        chosen = st.multiselect(
            "GPUs as nvidia-smi numbers them, in the program's order",
            [card.device for card in cards],
            default=_preset(program, [card.device for card in usable or cards]),
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


def _preset(program: Program, devices: list[str]) -> list[str]:
    """The least busy cards as the page is opened; kept then, so that none is swapped under the reader."""
    key = f"least-busy-{program.name}"
    kept = st.session_state.get(key)
    if kept is None or kept[0] != devices:
        loads = card_loads(monitor.shared().snapshot)
        kept = (devices, least_busy(loads, devices, program.default_devices))
        st.session_state[key] = kept
    return list(kept[1])


def choose_steps(program: Program) -> int:
    """How many steps; what a step is, and how many there are by default, is the program's."""
    key: Any = f"steps-{program.name}"
    return int(st.number_input("Steps", 1, MOST_STEPS, program.default_steps, key=key, bind=_BOUND))


def choose_exact(framework: str) -> bool:
    """Return True if the framework's exact mode is wanted."""
    return st.checkbox("Exact", key="exact", bind=_BOUND, help=FRAMEWORKS[framework].exact.help)


def choose_options(program: Program, devices: Devices, columns: int = 4) -> dict[str, Value | None]:
    """One widget an option, in columns; returns all values. In the address are those that are no defaults."""
    values: dict[str, Value | None] = {}
    row: list[Any] = []
    for option in program.options:
        row = row or list(st.columns(columns))
        with row.pop(0):
            values[option.name] = _option(program, option, devices)
    return values


def _option(program: Program, option: Option, devices: Devices) -> Value | None:
    """The option's widget, which is the program's own: other programs' options may have the same name."""
    key = f"{program.name}-{option.name}"
    if key not in st.session_state:
        st.session_state[key] = _start(option)
    value = _widget(option, devices, key)
    if value in (None, "") or str(value) == str(option.default):
        st.query_params.pop(option.name, None)
    elif st.query_params.get(option.name) != str(value):
        st.query_params[option.name] = str(value)
    return value


def _start(option: Option) -> Value | None:
    """What the address says, where that is possible; else the default."""
    text = st.query_params.get(option.name, "")
    if option.type == "counts":
        # Free text: what is wrong with it is said beside the command.
        return text or str(option.default or "")
    if text:
        with contextlib.suppress(UsageError):
            return option.parse(text)
    if option.type == "choice":
        return str(option.default) if option.default in (option.values or ()) else (option.values or ("",))[0]
    if option.type == "device":
        return ""
    return None if option.default is None else int(option.default)


def _widget(option: Option, devices: Devices, key: str) -> Value | None:
    label, note = option_label(option), escape_markdown(option_help(option))
    if option.type == "choice":
        return st.selectbox(label, list(option.values or ()), key=key, help=note)
    if option.type == "device":
        names = ["", *devices.shown()]
        if st.session_state[key] not in names:
            st.session_state[key] = ""
        return st.selectbox(label, names, format_func=lambda name: name or "the last one", key=key, help=note)
    words = _PLACEHOLDERS.get(option.name)
    if option.type in _LEAST:
        empty: Any = None if option.default is None else "min"
        chosen = st.number_input(
            label, _LEAST[option.type], None, empty, key=key, help=note, placeholder=words
        )
        return None if chosen is None else int(chosen)
    return st.text_input(label, key=key, placeholder=words, help=note)
