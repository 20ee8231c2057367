"""On the Launch page, for a script of one's own: some steps of it, to foresee a machine with GPUs."""

from __future__ import annotations

import dataclasses

import streamlit as st

from app import access
from app.facts.kernels.kernel_table import shipped_table
from app.views.text import escape_markdown
from app.web.shared import places
from app.web.shared.launching import launch_once
from runners.errors import HopscopeError
from runners.plan import own_script
from runners.plan.own_script import OwnScript
from runners.plan.plan import Plan
from runners.plan.preflight_plan import STEPS, Extent, as_preflight

_MOST_GPUS = 64
_NUMBER_PX = 430


def preflight_offer(how: OwnScript) -> None:
    """Draws the choice and, for operators, the button that runs a few steps and shows what they foresee."""
    if access.role() != "operator":
        return
    st.markdown("**Or a pre-flight**")
    st.caption(
        f"Runs the first step and {STEPS} more without a GPU, ends the script, and foresees what would fall"
        " to the host and what would cross on a machine with GPUs."
    )
    with st.container(horizontal=True, vertical_alignment="bottom", key="preflight-row"):
        words = "GPUs of that machine (0: as many as the script names, at least 1)"
        gpus = st.number_input(words, 0, _MOST_GPUS, 0, key="preflight-gpus", width=_NUMBER_PX)
        plan, lacking = planned(how, int(gpus))
        pressed = st.button(
            "Pre-flight", icon=":material/flight_takeoff:", key="preflight", disabled=plan is None
        )
    for reason in lacking:
        st.caption(f":material/block: {escape_markdown(reason)}")
    if not pressed or plan is None:
        return
    try:
        run_id = launch_once(plan, st.session_state)
    except HopscopeError as error:
        st.error(escape_markdown(error), icon=":material/block:")
        return
    own_script.remember(how)
    st.switch_page(places.RUN, query_params={"run": run_id})


def planned(how: OwnScript, gpus: int) -> tuple[Plan | None, list[str]]:
    """The pre-flight that the form says, None where it can't run, with why not."""
    try:
        plan = plan_of(how, gpus)
    except HopscopeError as error:
        return None, [str(error)]
    return (plan, []) if not plan.problems else (None, list(plan.problems))


def plan_of(how: OwnScript, gpus: int) -> Plan:
    """Plan a pre-flight of what the form says; HopscopeError where there is nothing to plan."""
    hidden = dataclasses.replace(how, devices=("cpu:0",), exact=False)
    return as_preflight(own_script.plan_own(hidden), extent=Extent(gpus=gpus, kernels=shipped_table().source))
