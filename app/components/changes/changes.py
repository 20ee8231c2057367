"""What differs between files in the browser, as findings show the code of a fix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from app.components.shared.assets import script, style

_component = st.components.v2.component(
    "hopscope_changes",
    html='<div class="hopscope"></div>',
    css=style("shared/cells") + style("shared/change") + style("changes/changes"),
    js=script("changes/changes"),
)


def changes(files: Mapping[str, Sequence[Mapping[str, str]]], key: str) -> None:
    """Draws each file's lines, ``{"kind": added|removed|kept|part, "text"}``, beneath its name."""
    _component(key=key, data={"files": [{"name": name, "lines": list(rows)} for name, rows in files.items()]})
