"""A run whose folder came from elsewhere: nothing of it runs before an operator has read what would."""

from __future__ import annotations

import streamlit as st

from app.opening import owner
from app.views.text import escape_markdown
from app.web.run.run_header import command_text
from runners.plan.trials import edited_texts
from runners.runs import ownership
from runners.runs.run import Run


def confirmation(run: Run) -> str:
    """Draws what would run and the box to confirm it; gives what was confirmed, '' until it is.

    What is confirmed is `ownership.fingerprint`, so a change of the folder asks again.
    """
    shown = ownership.fingerprint(run)
    if not shown:
        st.error(
            "This run's folder came from elsewhere, and what it would start cannot be read.",
            icon=":material/block:",
        )
        return ""
    st.warning(
        "This run was not launched from here: its folder came from elsewhere, or was copied. Running it again"
        " starts the command below with these variables. Read them, and the script, before you allow that.",
        icon=":material/gpp_maybe:",
    )
    st.code(command_text(run.spec), language="bash", wrap_lines=True)
    for path, text in edited_texts(run).items():
        with st.expander(f"It brings an edited copy of {escape_markdown(path)}, which would run instead"):
            st.code(text, language="python", line_numbers=True)
    allowed = st.checkbox(
        f"I have read this, and it may run as {escape_markdown(owner())}", key=f"confirm-{run.id}-{shown}"
    )
    return shown if allowed else ""
