"""Pages with hostile addresses and homes, run in this process as Streamlit runs them."""

from __future__ import annotations

import contextlib
import json
import logging
import random
from collections.abc import Callable, Iterator
from typing import Any

from streamlit.testing.v1 import AppTest

from app import access
from app.web.run.run_views import VIEWS
from runners.machine import monitor
from tests.hostile import ground as checks
from tests.hostile import material
from tests.hostile.entrances.folders import _sealed, hostile_folder
from tests.hostile.entrances.state import recorded
from tests.hostile.folders import wiped
from tests.hostile.ground import Ground, Harm, watch
from tests.hostile.seeds import seeds
from tests.hostile.worker import ROOT

SHARE = 5
CHECKED = "no exception on a page, no secret; hostile text is escaped in Markdown and in figures"

_PAGES = ("run", "run", "run", "run", "runs", "machine", "lessons", "launch")
_TABS = tuple(VIEWS)
_TIMEOUT_S = 60
_LIVE_TAG = f"<{material.MARK}>", "<script>window.", "<img src=x", "<svg/onload", "<iframe "


@contextlib.contextmanager
def opened(ground: Ground) -> Iterator[Callable[[random.Random], None]]:
    """What tries one input."""
    for name in ("streamlit", *logging.root.manager.loggerDict):
        if name.startswith("streamlit"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
    sealed = [_sealed(ground, seed) for seed in seeds()[:4]]
    access.set_policy(access.Policy({}))
    runs = ground.home / "runs"
    # The sampler is a process of the product's own; one answer of it is enough.
    machine = monitor.read_once()
    monitor.read_once = lambda *_arguments, **_options: machine
    for page in sorted({*_PAGES}):  # what is imported and drawn for the first time takes its time
        _test(page, {})
    watch(ground)

    def attempt(rng: random.Random) -> None:
        wiped(ground.home)
        runs.mkdir(parents=True)
        names = [hostile_folder(rng, ground, runs, sealed) for _ in range(rng.choice((1, 2)))]
        if rng.random() < 0.3:
            (ground.home / "recordings").mkdir()
            (ground.home / "recordings" / "machine.jsonl").write_bytes(recorded(rng))
        _draw(rng, ground, names)

    yield attempt


def _draw(rng: random.Random, ground: Ground, names: list[str]) -> None:
    page = rng.choice(_PAGES)
    query = {
        "run": rng.choice((*names, *names, material.text(rng))),
        "tab": rng.choice((*_TABS, material.text(rng))),
    }
    if page == "machine":
        query = {"replay": rng.choice(("machine.jsonl", material.text(rng)))}
    for name in rng.sample(
        ("pair", "group", "finding", "line", "hop", "graph", "open", "file", "verify", "t", "program"),
        rng.choice((0, 1, 3)),
    ):
        query[name] = rng.choice((material.text(rng), "0-1", "0-1e300", "1", "x@train.py:1", "gpu:0>cpu:0"))
    ground.note("page", (page, query))
    test = _test(page, query)
    for raised in test.exception:
        # Pages of their own cannot be switched to or linked to here.
        if "page" in raised.message.lower() and "st.switch_page" in raised.message:
            continue
        if "Could not find page" in raised.message or "StreamlitPageNotFoundError" in raised.message:
            continue
        raise Harm(f"a page shows an exception: {raised.message[:300]} {raised.stack_trace}"[:6000])
    for element in _elements(test.main):
        _check(element)


def _test(page: str, query: dict[str, str]) -> AppTest:
    test = AppTest.from_file(str(ROOT / "pages" / f"{page}.py"), default_timeout=_TIMEOUT_S)
    for name, value in query.items():
        test.query_params[name] = value.encode("utf-8", "replace").decode()
    return test.run()


def _elements(block: Any) -> Iterator[Any]:
    for child in block.children.values():
        if hasattr(child, "children"):
            yield from _elements(child)
        else:
            yield child


def _check(element: Any) -> None:
    proto = getattr(element, "proto", None)
    if proto is None:
        return
    checks.check_secret(str(proto))
    body = getattr(proto, "body", "")
    if isinstance(body, str) and element.type in (
        "markdown",
        "caption",
        "title",
        "header",
        "subheader",
        "error",
        "info",
        "warning",
        "success",
    ):
        checks.check_markdown(body)
    text = getattr(proto, "json", "") or getattr(proto, "mixed_data", "")
    if isinstance(text, str) and '"figure"' in text:
        for drawn in _drawn(json.loads(text)):
            if any(tag in drawn for tag in _LIVE_TAG):
                raise Harm(f"a figure has markup that is not its own: {drawn[:300]}")


def _drawn(value: Any, name: str = "") -> Iterator[str]:
    """The texts of a figure that are drawn; data that comes back with a click is not."""
    if isinstance(value, dict):
        for key, part in value.items():
            if key not in ("customdata", "ids", "meta"):
                yield from _drawn(part, key)
    elif isinstance(value, list):
        for part in value:
            yield from _drawn(part, name)
    elif isinstance(value, str):
        yield value
