"""Launch: a program, its devices and options; what exactly will run; and off it goes."""

from __future__ import annotations

import streamlit as st

from app import access
from app.screen import launch_form, places
from app.screen.card_loads import loads_panel
from app.screen.environment_panel import environment_panel
from app.screen.launch_words import blocking, changed_options, plan_remarks, plan_text, waiting
from app.screen.launching import launch_once
from app.views.text import escape_markdown
from runners.builds import usable_cards
from runners.environments import environment
from runners.errors import HopscopeError
from runners.frameworks import FRAMEWORKS
from runners.gpus import known_gpus
from runners.launcher import plan_program

st.title("Launch a training run")
left, right = st.columns([4, 9], gap="large")
with left:
    chosen = launch_form.choose_framework()
    environment_panel(chosen)
    program = launch_form.choose_program(chosen)
with right:
    st.markdown(f"**{escape_markdown(program.title)}** `{program.name}`")
    st.caption(f"**The claim to check:** {escape_markdown(program.claim)}")
    gpus = known_gpus()
    usable = usable_cards(FRAMEWORKS[chosen], gpus.cards) if environment(chosen).build != "cpu" else []
    where, how_long, how = st.columns([2, 1, 1], vertical_alignment="bottom")
    with where:
        devices = launch_form.choose_devices(program, gpus.cards, usable)
    with how_long:
        steps = launch_form.choose_steps(program)
    with how:
        exact_lines = launch_form.choose_exact_lines(chosen)
    if devices.names:
        loads_panel(devices.names)
    if not gpus.cards:
        st.caption(f"No GPU here: {escape_markdown(gpus.problem)}. Stand-ins play them.")
    values = launch_form.choose_options(program, devices)

plan = plan_program(
    program.name,
    devices=devices.names or None,
    stand_ins=devices.stand_ins,
    steps=steps,
    options=changed_options(program, values),
    origin="page",
    exact_lines=exact_lines,
)
operator = access.role() == "operator"
with right:
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
            st.switch_page(places.RUN, query_params={"run": run_id})
    if operator and plan.unready:
        st.caption(waiting(plan))
