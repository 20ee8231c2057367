"""An edited copy of one file in the browser: what the reader changed stays when the dialog is closed."""

from __future__ import annotations

import functools
import operator

import streamlit as st

from app.components.changes.changes import changes
from app.components.editor.editor import code_editor
from app.fixes.code.edits import applied, edits_between, line_after
from app.views.text import escape_markdown
from app.web.run.verify_words import changed_lines

_HEIGHT = 340


def edited_copy(path: str, text: str, start: str, line: int | None, key: str) -> str:
    """Draws the editor of a copy of `text`, which is `start` at first; gives what it is now.

    `line` is that of the finding in `text`, None where it is in another file. Below stands what differs from
    `text`, whose line ends the copy keeps.
    """
    kept, turn = f"{key}-text", f"{key}-turn"
    shown = st.session_state.get(kept, start)
    edits = edits_between(path, text, shown)
    place = line if line is not None else edits[0].first if edits else 1
    label = f"A copy of {path}" + (f", the finding at line {line}" if line is not None else "")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(escape_markdown(label), width="stretch")
        over = st.empty()  # what it depends on is below
    left = code_editor(
        shown,
        f"{key}-{st.session_state.get(turn, 0)}",
        functools.partial(operator.setitem, st.session_state, kept),
        line=line_after(edits, place),
        height=_HEIGHT,
        label=label,
    )
    new = applied(text, edits_between(path, text, left))
    over.button(
        "Start over",
        key=f"{key}-over",
        type="tertiary",
        disabled=new == start,
        on_click=_start_over,
        args=(kept, turn),
    )
    if new != text:
        changes({"What the copy changes": changed_lines(text, new)}, f"{key}-changes")
    return new


def _start_over(kept: str, turn: str) -> None:
    st.session_state.pop(kept, None)
    st.session_state[turn] = st.session_state.get(turn, 0) + 1
