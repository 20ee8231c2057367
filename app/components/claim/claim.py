"""A program's claim in the browser, with what it came to on this machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from app.components.shared.assets import script, style

_component = st.components.v2.component(
    "hopscope_claim",
    html='<div class="hopscope"></div>',
    css=style("shared/cells") + style("claim/claim"),
    js=script("claim/claim"),
)


def claim_box(verdicts: Sequence[Mapping[str, str]], claim: str, key: str) -> None:
    """Draws verdicts, ``{"text", "tone", "measured"}``, the first word of each as a badge; then the claim."""
    _component(key=key, data={"verdicts": [dict(verdict) for verdict in verdicts], "claim": claim})
