"""A run's findings in the browser: what went unseen first, then what matters, the rest folded away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from app.components.shared.assets import script, style
from app.components.shared.event import Event, event_of, ignore

_component = st.components.v2.component(
    "hopscope_findings",
    html='<div class="hopscope"></div>',
    css=style("shared/cells") + style("shared/code") + style("shared/change") + style("findings/findings"),
    js=script("findings/findings"),
)


def findings_list(
    findings: Sequence[Mapping[str, Any]],
    unseen: Sequence[Mapping[str, str]],
    key: str,
    *,
    selected: str = "",
    fold: str = "",
) -> Event | None:
    """Draws findings as `app.web.run.finding_rows` makes them: what, why, the lines, the fix, the proof.

    The `selected` one is opened, and brought into view where that was not picked here.

    `unseen` are ``{"what", "why"}``; `fold` stands above the quiet ones, which it hides until it is opened.
    `show` is the button's text, '' for no button. Gives ``{"type": "finding", "id"}`` when one was chosen,
    with an empty id when it was let go, ``{"type": "site", "site"}`` when its line was,
    ``{"type": "verify", "name"}`` when its fix is to be tried, ``{"type": "open", "run"}`` when a run that
    tried it is to be shown; else None.
    """
    data = {
        "findings": [dict(finding) for finding in findings],
        "unseen": [dict(line) for line in unseen],
        "selected": selected,
        "fold": fold,
    }
    result = _component(key=key, data=data, on_event_change=ignore)
    return event_of(result)
