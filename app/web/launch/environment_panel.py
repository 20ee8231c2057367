"""The framework's environment on the Launch page: missing, installing, ready or failed, and what to do."""

from __future__ import annotations

import collections
from typing import Any

import streamlit as st

from app import access
from app.views.text import escape_markdown
from app.web.shared.launch_words import environment_words, title_of
from runners.environments import background_install, environments
from runners.environments.environments import Environment
from runners.environments.frameworks import FRAMEWORKS
from runners.environments.installed_versions import package_versions

_POLL_S = 1.0
_LOG_LINES = 30
_FEW_LINES = 4
"""Where it failed: the last ones say why."""
_LOG_BYTES = 100_000
_ICONS = {
    "good": ":green[:material/check_circle:]",
    "busy": ":blue[:material/downloading:]",
    "alert": ":red[:material/error:]",
    "quiet": ":gray[:material/pending:]",
}


def environment_panel(framework: str) -> None:
    """Draws the environment's state, and in short that of others; looks again until all are ready."""
    ready = _ready()
    polling = st.fragment(_panel, run_every=None if len(ready) == len(FRAMEWORKS) else _POLL_S)
    polling(framework, ready)


def _ready() -> set[str]:
    return {found.name for found in environments.environments() if found.state == "ready"}


def _panel(framework: str, drawn: set[str]) -> None:
    if _ready() != drawn:
        st.rerun()  # what can be launched has changed
    found = environments.environment(framework)
    versions = package_versions(found.python) if found.state == "ready" else {}
    words = environment_words(found, versions)
    with st.container(border=True, key="environment"):
        st.markdown(f"{_ICONS[words.tone]} **{escape_markdown(words.title)}**")
        if found.state == "installing" and found.progress:
            st.progress(found.progress, text=escape_markdown(words.detail))
        elif words.detail:
            st.caption(escape_markdown(words.detail))
        if found.state in ("missing", "failed"):
            _offer_install(found)
        if found.state in ("installing", "failed") and found.log.exists():
            _log(found)
    for other in environments.environments():
        if other.name != framework and other.state != "ready":
            _in_short(other)


def _in_short(found: Environment) -> None:
    words = environment_words(found, {})
    detail = f" · {words.detail}" if words.detail and found.state != "failed" else ""
    st.caption(f"{_ICONS[words.tone]} {escape_markdown(words.title + detail)}")
    if found.state in ("missing", "failed"):
        _offer_install(found)


def _offer_install(found: Environment) -> None:
    """The button of one framework, for operators: nothing is fetched before it is pressed."""
    if access.role() != "operator" or environments.is_users_own(found.name):
        return
    label = f"Install {title_of(found.name)}{' again' if found.state == 'failed' else ''}"
    if st.button(label, icon=":material/download:", key=f"install-{found.name}"):
        background_install.start([found.name])
        st.rerun(scope="fragment")


def _log(found: Environment) -> None:
    failed = found.state == "failed"
    with st.expander("Log", expanded=failed):
        tail = _tail(found, _FEW_LINES if failed else _LOG_LINES)
        height: Any = "content" if failed else 220
        st.code(tail or "Nothing is written yet.", language=None, wrap_lines=True, height=height)
        st.caption(escape_markdown(found.log))


def _tail(found: Environment, lines: int) -> str:
    try:
        with found.log.open("rb") as log:
            log.seek(max(0, found.log.stat().st_size - _LOG_BYTES))
            text = log.read(_LOG_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
    written = (line for line in text.replace("\r", "\n").splitlines() if line.strip())
    return "\n".join(collections.deque(written, lines))
