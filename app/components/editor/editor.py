"""A text of code to edit in the browser, with its lines' numbers, opened at one of them."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from app.components.shared.assets import script, style

_component = st.components.v2.component(
    "hopscope_editor",
    html='<div class="hopscope"></div>',
    css=style("shared/cells") + style("editor/editor"),
    js=script("editor/editor"),
)


def code_editor(
    text: str,
    key: str,
    changed: Callable[[str], object],
    *,
    line: int = 0,
    height: int = 320,
    label: str = "",
) -> str:
    """Draws the editor and gives the text as it was left by the reader, with line ends of ``\\n``.

    `text` is what stands in it until the reader changes it; from then on it only counts where the editor is
    drawn anew, after it was gone for a while. `changed` gets each text before the page is drawn, also where
    the editor is not drawn any more. `line`, from 1, is marked, and in sight at first. `height` is in px,
    `label` for those who hear the page.
    """

    def tell() -> None:
        changed(str(st.session_state[key]["text"]))

    data = {"text": text, "line": line, "height": height, "label": label}
    left = _component(key=key, data=data, on_text_change=tell).get("text")
    return text if left is None else str(left)
