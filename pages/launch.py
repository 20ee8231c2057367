"""Launch: a program or a script of one's own, its devices and options; what will run; and off it goes."""

from __future__ import annotations

import streamlit as st

from app.web.launch import launch_form, launch_own, launch_program

st.title("Launch a training run")
left, right = st.columns([4, 9], gap="large")
with left:
    own = launch_form.choose_own()
if own:
    launch_own.own_script_panel(left, right)
else:
    launch_program.program_panel(left, right)
