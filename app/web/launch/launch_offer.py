"""The end of the Launch page: what will run, what keeps it from running, and the button."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from app import access
from app.opening import owner
from app.views.text import escape_markdown
from app.web.shared import places
from app.web.shared.launch_words import blocking, plan_remarks, plan_text, waiting
from app.web.shared.launching import launch_once
from runners.errors import HopscopeError
from runners.plan.plan import Plan


def offer(
    plan: Plan, launched: Callable[[], None] = lambda: None, instead: Callable[[], None] = lambda: None
) -> None:
    """Draws the exact command and environment; for operators also the button, which calls `launched`.

    The button and what keeps it from working stand together, over the command, which may be long. Between
    them `instead` draws what else can be done with what was chosen.
    """
    operator = access.role() == "operator"
    if plan.warning:
        st.warning(escape_markdown(plan.warning), icon=":material/lock_open:")
    problem = _button(plan, launched) if operator else None
    if not operator:
        _problems(plan)
        st.info("You can look; launching takes the operator's address.", icon=":material/visibility:")
    if problem:
        st.error(escape_markdown(problem), icon=":material/block:")
    instead()
    st.markdown("**What Launch runs**")
    if operator:
        st.caption(escape_markdown(f"An operator can run any code as {owner()}, the user of this dashboard."))
    st.code(plan_text(plan), language="bash", wrap_lines=True)
    for note in filter(None, [plan_remarks(plan), *plan.notes]):
        st.caption(escape_markdown(note))


def _button(plan: Plan, launched: Callable[[], None]) -> str | None:
    """The button, with the reasons beside it where it cannot be used; returns why a launch failed."""
    with st.container(horizontal=True, vertical_alignment="center", key="launch-row"):
        pressed = st.button(
            "Launch",
            type="primary",
            icon=":material/rocket_launch:",
            disabled=bool(plan.problems),
            key="launch",
        )
        with st.container(width="stretch", gap="small"):
            _problems(plan)
            if plan.unready:
                st.caption(waiting(plan))
    if not pressed:
        return None
    try:
        run_id = launch_once(plan, st.session_state)
    except HopscopeError as error:
        return str(error)
    launched()
    st.switch_page(places.RUN, query_params={"run": run_id})


def _problems(plan: Plan) -> None:
    for problem in blocking(plan):
        st.error(escape_markdown(problem), icon=":material/block:")
