"""The Launch page for a program of the catalogue."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.views.text import escape_markdown
from app.web.launch import launch_form
from app.web.launch.card_loads import loads_panel
from app.web.launch.environment_panel import environment_panel
from app.web.launch.launch_offer import offer
from app.web.shared.launch_words import changed_options
from runners.environments.builds import usable_cards
from runners.environments.environments import environment
from runners.environments.frameworks import FRAMEWORKS
from runners.machine.gpus import known_gpus
from runners.plan.launcher import plan_program
from runners.plan.plan import LaunchOptions


def program_panel(left: DeltaGenerator, right: DeltaGenerator) -> None:
    """Draws the catalogue on the left, and on the right what is chosen for the program."""
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
            exact = launch_form.choose_exact(chosen)
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
            launch=LaunchOptions(origin="page", exact=exact),
        )
        offer(plan)
