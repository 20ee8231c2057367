"""A page with every view on made-up data: `python -m tests.e2e.views_harness PORT`, to look at and to test.

Query parameters choose the scene: ``scene`` is small, large, thousand, eight, empty or one of the figures'.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import plotly
import streamlit as st
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route
from streamlit import runtime

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

PLOTLY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"


async def plotly_js(_request: Request) -> Response:
    return FileResponse(PLOTLY, media_type="text/javascript")


def serve(port: int, with_plotly: bool) -> None:
    routes = [Route("/hopscope/plotly.min.js", plotly_js)] if with_plotly else []
    app = st.App(Path(__file__), routes=routes)
    app.run(
        config={
            "server.address": "127.0.0.1",
            "server.port": port,
            "server.headless": True,
            "server.fileWatcherType": "none",
            "browser.gatherUsageStats": False,
            "client.toolbarMode": "minimal",
        }
    )


def page() -> None:
    from app.components.diagram.placement import placement_diagram
    from app.components.figure.figure import live_figure
    from app.views.matrix import matrix_figure
    from app.views.memory import memory_figure
    from app.views.placement import diagram_data
    from app.views.progress import progress_figure
    from app.views.selection import Selection
    from app.views.timeline import overview_figure
    from app.views.timeline_window import window_figure
    from tests.e2e import views_samples as samples

    st.set_page_config(layout="wide")
    state = st.session_state
    state.setdefault("opened", [])
    state.setdefault("selection", Selection())
    state.setdefault("steps", samples.STEPS)
    state.setdefault("events", [])
    state.setdefault("pair", None)
    state.setdefault("window", None)
    scene = st.query_params.get("scene", "small")

    def note(event: dict[str, object] | None) -> None:
        if event:
            state.events.append(event)

    if st.button("Grow"):
        state.steps += 100

    if scene in ("small", "large", "thousand", "eight", "empty"):
        if scene == "small":
            diagram = samples.model_parallel(frozenset(state.opened), state.steps)
        elif scene == "large":
            diagram = samples.large()
        elif scene == "eight":
            diagram = samples.large(120, 70, 8, columns=18)
        elif scene == "thousand":
            diagram = samples.large(1000, 150, 6)
        else:
            diagram = samples.empty()
        data = diagram_data(
            diagram, state.selection, hops=samples.HOPS if scene == "small" else (), opened=state.opened
        )
        event = placement_diagram(data, key="diagram")
        note(event)
        if event:
            if event["type"] == "toggle":
                expand = event["expand"]
                state.opened = [one for one in state.opened if one != expand] + (
                    [expand] if event["open"] else []
                )
            elif event["type"] == "group":
                state.selection = Selection(group=event["id"])
            elif event["type"] == "crossing":
                state.selection = Selection(crossing=event["id"], hops=frozenset(event["hops"]))
            else:
                state.selection = Selection()
            st.rerun()
    if scene in ("matrix", "figures"):
        event = live_figure(matrix_figure(samples.matrix(), state.pair), "matrix")
        note(event)
        if event and event["customdata"]:
            state.pair = tuple(event["customdata"])
            st.rerun()
    if scene == "bigmatrix":
        live_figure(matrix_figure(samples.big_matrix(), ("gpu:1", "gpu:2")), "bigmatrix")
    if scene in ("timeline", "figures"):
        event = live_figure(
            overview_figure(samples.overview(), state.window), "overview", events=("select", "range")
        )
        note(event)
        if event and event["type"] == "select":
            state.window = (event["x0"], event["x1"])
            st.rerun()
        note(live_figure(window_figure(samples.window()), "window"))
    if scene in ("curves", "figures"):
        series = samples.memory(state.steps)
        note(live_figure(memory_figure(series), "memory", events=("range",)))
        note(live_figure(progress_figure(samples.progress()), "progress"))
    st.code(json.dumps(state.events[-6:]), language=None)


if __name__ == "__main__":
    if runtime.exists():
        page()
    else:
        serve(int(sys.argv[1]), "--without-plotly" not in sys.argv)
