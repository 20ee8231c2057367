"""The entry page: which pages there are, and what is on all of them."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from app.web.shared.look import dress

_PAGES = Path(__file__).resolve().parents[1] / "pages"

# Before the navigation: where no icon is set yet, the browser fetches the page's own from another host.
st.set_page_config(page_icon=Path(__file__).with_name("icon.svg"), layout="wide")
page = st.navigation(
    [
        st.Page(_PAGES / "machine.py", title="Machine", icon=":material/memory:", default=True),
        st.Page(_PAGES / "launch.py", title="Launch", icon=":material/rocket_launch:", url_path="launch"),
        st.Page(_PAGES / "runs.py", title="Runs", icon=":material/list:", url_path="runs"),
        st.Page(_PAGES / "run.py", title="Run", icon=":material/account_tree:", url_path="run"),
        st.Page(_PAGES / "lessons.py", title="Lessons", icon=":material/school:", url_path="lessons"),
    ],
    position="top",
)
st.set_page_config(page_title=f"{page.title} · Hopscope")
dress()
page.run()
