"""The Launch page for a script of the user's own, from the folders that the server was started with."""

from __future__ import annotations

import shlex
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app import access
from app.views.text import escape_markdown
from app.web.launch.card_loads import loads_panel
from app.web.launch.environment_panel import environment_panel
from app.web.launch.launch_form import choose_exact
from app.web.launch.launch_offer import offer
from app.web.launch.launch_preflight import preflight_offer
from app.web.shared.launch_words import title_of
from runners.environments import interpreters
from runners.environments.frameworks import FRAMEWORKS
from runners.errors import HopscopeError
from runners.machine.gpus import known_gpus
from runners.plan import own_script, script_folders
from runners.plan.own_script import OwnScript
from runners.plan.plan import INJECT

AS_IT_IS, GPUS, HOST = "as-it-is", "gpus", "host"
_DEVICE_WORDS = {AS_IT_IS: "As the environment shows", GPUS: "GPUs in order", HOST: "No GPU"}
_SCRIPT, _MODULE = "Script", "Module (-m)"
_POLL_S = 0.5
_LIST_S = 5
_FIELDS = ("folder", "script", "arguments", "python", "cwd", "framework", "variables")
_VARIABLES_HELP = (
    "NAME=VALUE, one a line. They are kept with the run, where whoever may look at it can read them, and in "
    "Hopscope's data folder, readable by you alone."
)


def own_script_panel(left: DeltaGenerator, right: DeltaGenerator) -> None:
    """Draws what to run on the left, and on the right how; only for operators, where folders were named."""
    with left:
        if access.role() != "operator":
            words = "You can look; launching scripts of one's own takes the operator's address."
            st.info(words, icon=":material/visibility:")
            return
        if not script_folders.allowed():
            _no_folders()
            return
        _fill(st.session_state)
        what = _choose_script(st.session_state)
    with right:
        how = _choose_how(st.session_state, what)
        try:
            plan = own_script.plan_own(how)
        except HopscopeError as error:
            st.info(escape_markdown(error), icon=":material/edit:")
            return
        if plan.unready:
            environment_panel(plan.framework)
        offer(plan, lambda: own_script.remember(how), lambda: preflight_offer(how))


def _no_folders() -> None:
    st.info(
        "No folder was named whose scripts may be launched from here. Start the dashboard with one:",
        icon=":material/folder_off:",
    )
    st.code("python3 -m app serve --scripts ~/my-project", language="bash")
    st.caption("From a terminal any script can be run: `python3 -m app run -- train.py`")


def _key(name: str) -> str:
    return f"own-{name}"


def _fill(session: MutableMapping[Any, Any]) -> None:
    """What was launched last stands in the form when it is first drawn."""
    if _key("folder") not in session:
        before = own_script.remembered()
        _put(before[0] if before else OwnScript(folder=str(script_folders.allowed()[0])), session)
    elif Path(session[_key("folder")]) not in script_folders.allowed():
        session[_key("folder")] = str(script_folders.allowed()[0])
    for name in (*_FIELDS, "kind", "devices-kind", "devices"):
        # Streamlit forgets what belongs to widgets that a run of the page does not draw.
        if _key(name) in session:
            session[_key(name)] = session[_key(name)]


def _put(own: OwnScript, session: MutableMapping[Any, Any]) -> None:
    for name in _FIELDS:
        session[_key(name)] = getattr(own, name)
    session[_key("script")] = own.script or None
    session[_key("kind")] = _MODULE if own.module else _SCRIPT
    session[_key("module")] = own.script if own.module else ""
    cards = {card.device for card in known_gpus().cards}
    chosen = [name for name in own.devices or () if name in cards]
    session[_key("devices-kind")] = AS_IT_IS if own.devices is None else GPUS if chosen else HOST
    session[_key("devices")] = chosen


def _choose_script(session: MutableMapping[Any, Any]) -> OwnScript:
    before = own_script.remembered()
    if before:
        st.selectbox(
            "Launched before",
            range(len(before)),
            index=None,
            format_func=lambda number: _told(before[number]),
            key=_key("before"),
            placeholder="last first",
            on_change=lambda: _again(before, session),
        )
    folders = [str(folder) for folder in script_folders.allowed()]
    folder = st.selectbox("Folder", folders, key=_key("folder"))
    kind = st.segmented_control(
        "Kind", [_SCRIPT, _MODULE], key=_key("kind"), required=True, label_visibility="collapsed"
    )
    if kind == _MODULE:
        words = "package.module, as behind `python -m`, looked for in the working directory"
        name = st.text_input("Module", key=_key("module"), placeholder="package.module", help=words)
        return OwnScript(folder=folder, script=name, module=True)
    found = _scripts(folder)
    if session.get(_key("script")) and session[_key("script")] not in found:
        found = [session[_key("script")], *found]
    script = st.selectbox(
        "Script",
        found,
        index=None,
        key=_key("script"),
        accept_new_options=True,
        placeholder="choose one, or type its path from the folder on",
    )
    return OwnScript(folder=folder, script=script or "")


def _again(before: list[OwnScript], session: MutableMapping[Any, Any]) -> None:
    number = session.get(_key("before"))
    if number is not None:
        _put(before[number], session)
        session[_key("before")] = None


def _told(own: OwnScript) -> str:
    words = f"{'-m ' if own.module else ''}{own.script} {own.arguments}".strip()
    return f"{words} · {Path(own.folder).name}" if len(script_folders.allowed()) > 1 else words


@st.cache_data(ttl=_LIST_S, show_spinner=False)
def _scripts(folder: str) -> list[str]:
    return script_folders.scripts(Path(folder))


def _choose_how(session: MutableMapping[Any, Any], what: OwnScript) -> OwnScript:
    arguments = st.text_input(
        "Arguments", key=_key("arguments"), placeholder="--epochs 3 --name 'two words'", help="As in a shell"
    )
    _show_arguments(arguments)
    place, with_what = st.columns(2)
    with place:
        cwd = st.text_input(
            "Working directory, from the folder on",
            key=_key("cwd"),
            placeholder="the folder itself" if what.module else "where the script lies",
        )
    with with_what:
        framework = st.selectbox(
            "Framework",
            ["", *FRAMEWORKS],
            format_func=lambda name: title_of(name) if name else "the one that it imports",
            key=_key("framework"),
        )
    python = _choose_python(session, Path(what.folder))
    devices = _choose_devices()
    if devices and devices != ("cpu:0",):
        loads_panel(devices)
    variables = st.text_area(
        "Environment variables",
        key=_key("variables"),
        height=90,
        placeholder="NAME=VALUE",
        help=_VARIABLES_HELP,
    )
    exact = choose_exact(framework) if framework else False
    return OwnScript(
        what.folder,
        what.script,
        what.module,
        arguments,
        python,
        cwd.strip(),
        framework,
        devices,
        variables,
        exact,
    )


def _show_arguments(text: str) -> None:
    """The arguments one by one, so that quotes do what they should."""
    try:
        words = own_script.split_arguments(text)
    except HopscopeError:
        return  # said beside the command
    if words:
        shown = " ".join(f"`{shlex.quote(word)}`".replace("``", "`") for word in words)
        count = f"{len(words)} arguments" if len(words) > 1 else "1 argument"
        st.caption(f"{count}: {shown}")


def _choose_python(session: MutableMapping[Any, Any], folder: Path) -> str:
    used = [own.python for own in own_script.remembered() if own.python]
    near = [str(python) for python in interpreters.nearby([folder, *folder.parents[:1]])]
    options = list(dict.fromkeys(["", *near, *used, session.get(_key("python")) or ""]))
    python = st.selectbox(
        "Interpreter",
        options,
        format_func=lambda path: path or "that of Hopscope's own environment",
        key=_key("python"),
        accept_new_options=True,
        help=f"The python of any virtual environment. The recorder comes in by PYTHONPATH, from {INJECT}",
    )
    if python:
        found = interpreters.check(python)
        st.fragment(_interpreter, run_every=_POLL_S if found.checking else None)(python, found.checking)
    return python or ""


def _interpreter(python: str, checking: bool) -> None:
    found = interpreters.check(python)
    if checking and not found.checking:
        st.rerun()
    if found.checking:
        st.caption(f":blue[:material/hourglass:] {escape_markdown(found.words)}")
    elif not found.problem:
        st.caption(f":green[:material/check_circle:] {escape_markdown(found.words)}")


def _choose_devices() -> tuple[str, ...] | None:
    """GPUs in the order in which they are picked; None to leave the choice to the script."""
    gpus = known_gpus()
    kinds = [AS_IT_IS, GPUS, HOST] if gpus.cards else [AS_IT_IS, HOST]
    if st.session_state.get(_key("devices-kind")) not in kinds:
        st.session_state[_key("devices-kind")] = AS_IT_IS
    kind = st.segmented_control(
        "Devices",
        kinds,
        format_func=_DEVICE_WORDS.__getitem__,
        key=_key("devices-kind"),
        required=True,
        help="As the environment shows: no variable that says which devices it sees is touched.",
    )
    if kind == GPUS:
        chosen = st.multiselect(
            "GPUs as nvidia-smi numbers them, in the program's order",
            [card.device for card in gpus.cards],
            key=_key("devices"),
        )
        return tuple(chosen) or None
    return ("cpu:0",) if kind == HOST else None
