"""The end of the Launch page: what will run, what keeps it from running, and the button."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from app import access
from app.screen import places
from app.screen.launch_words import blocking, plan_remarks, plan_text, waiting
from app.screen.launching import launch_once
from app.views.text import escape_markdown
from runners.errors import HopscopeError
from runners.plan import Plan


def offer(plan: Plan, launched: Callable[[], None] = lambda: None) -> None:
    """Draws the exact command and environment; for operators also the button, which calls `launched`."""
    operator = access.role() == "operator"
    for problem in blocking(plan):
        st.error(escape_markdown(problem), icon=":material/block:")
    st.markdown("**What will run**")
    st.code(plan_text(plan), language="bash", wrap_lines=True)
    for note in filter(None, [plan_remarks(plan), *plan.notes]):
        st.caption(escape_markdown(note))
    if not operator:
        st.info("You can look; launching takes the operator's address.", icon=":material/visibility:")
    elif st.button(
        "Launch", type="primary", icon=":material/rocket_launch:", disabled=bool(plan.problems), key="launch"
    ):
        try:
            run_id = launch_once(plan, st.session_state)
        except HopscopeError as error:
            st.error(escape_markdown(error), icon=":material/block:")
        else:
            launched()
            st.switch_page(places.RUN, query_params={"run": run_id})
    if operator and plan.unready:
        st.caption(waiting(plan))
