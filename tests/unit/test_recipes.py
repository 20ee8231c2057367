"""Recipes of CONTRIBUTING.md: what is added as they say is there, and they name each file to touch."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.golden import runs
from tests.unit.test_house import DIALECTS, ROOT, names_in, python_files

RUN = "labelled/mxnet/push_and_pull"
VIEW = '''"""Toys of a run."""

import streamlit as st

from app.web.run.run_page import Page


def toys_view(page: Page) -> None:
    """How many hops there are to play with."""
    st.caption(f"{len(page.snapshot.hops)} toys")
'''
DRAWN = """
import json, os, sys
from streamlit.testing.v1 import AppTest
from app import access

access.set_policy(access.Policy({}))
page = AppTest.from_file("pages/run.py", default_timeout=120)
page.query_params["run"], page.query_params["tab"] = sys.argv[1], "Toys"
page.run()
print(json.dumps([[tab.label for tab in page.tabs], [one.value for one in page.caption]]), flush=True)
os._exit(0)  # threads of the page are at work in the database still, and would be ended in the middle of it
"""
FORMAT = '''"""A report as a list of toys."""

from collections.abc import Mapping
from typing import Any


def render_toys(report: Mapping[str, Any]) -> str:
    """One line a hop."""
    return "".join(f"{hop['tensor']}\\n" for hop in report["hops"])
'''


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A copy of the code that may be changed."""
    copy = tmp_path / "clone"
    shutil.copytree(ROOT / "app", copy / "app", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pages", "probes", "requirements.txt", "runners"):
        (copy / name).symlink_to(ROOT / name)
    return copy


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A recorded run in a home of its own."""
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    (tmp_path / "home" / "runs").mkdir(parents=True)
    return runs.unpack(RUN, tmp_path / "home" / "runs")


def test_a_view_is_added_by_the_files_that_the_page_names(clone: Path, run: Path) -> None:
    """WHEN a view is added as told THEN the run's page has its tab, in which it draws."""
    before = texts(clone)
    (clone / "app/web/run/toys_view.py").write_text(VIEW)
    insert(
        clone / "app/web/run/run_views.py",
        "from app.web.shared import rows",
        "from app.web.run.toys_view import toys_view",
    )
    insert(clone / "app/web/run/run_views.py", '    "Memory": memory_view,', '    "Toys": toys_view,')
    assert changed(clone, before) == named("Add a view of a run", view="toys")

    tabs, captions = json.loads(python(clone, "-c", DRAWN, run.name).splitlines()[-1])
    hops = runs.golden_report(RUN)["hops"]
    assert tabs[tabs.index("Memory") - 1] == "Toys" and f"{len(hops)} toys" in captions


def test_a_format_is_added_by_the_files_that_the_page_names(clone: Path, run: Path) -> None:
    """WHEN a format is added as told THEN `report` writes it."""
    before = texts(clone)
    (clone / "app/reports/toys.py").write_text(FORMAT)
    insert(clone / "app/reports/formats.py", "\n@dataclasses", "from app.reports.toys import render_toys\n")
    formats = clone / "app/reports/formats.py"
    line = 'Format("toys", "write it as toys", render_toys),'
    formats.write_text(formats.read_text().replace("render_html),)", f"render_html), {line})"))
    assert changed(clone, before) == named("Add a format", format="toys") - {"docs/cli.md"}

    written = run.parent / "toys.txt"
    python(clone, "-m", "app", "report", run.name, "--toys", str(written))
    assert written.read_text().splitlines() == [hop["tensor"] for hop in runs.golden_report(RUN)["hops"]]


@pytest.mark.parametrize(("framework", "short"), [("mxnet", "mx"), ("tensorflow", "tf")])
def test_the_recipe_of_a_framework_names_files_that_there_are(framework: str, short: str) -> None:
    missing = [
        path
        for path in named("Add a framework", framework=framework, short=short)
        if not (ROOT / path).exists()
    ]
    assert missing == []


def test_the_recipe_of_a_framework_names_each_place_that_knows_one() -> None:
    """MXNet's name stands in no other file than what a framework's recipe names, and its own."""
    recipe = named("Add a framework", framework="mxnet", short="mx")
    own = (
        "probes/mx/",
        *(path for path in DIALECTS if path.endswith("/")),
    )
    files = {
        str(path.relative_to(ROOT))
        for path in python_files("app", "hopscope", "pages", "probes", "runners")
        if names_in(path, re.compile("mxnet|gluon", re.IGNORECASE))
    }
    assert {path for path in files if not path.startswith(own)} - recipe == set()


def named(section: str, **names: str) -> set[str]:
    """The files of the product that the steps of a recipe name."""
    text = (ROOT / "CONTRIBUTING.md").read_text().partition(f"## {section}\n")[2].partition("\n## ")[0]
    steps = "\n".join(re.findall(r"(?m)^\d+\. .*(?:\n   .*)*", text))
    found = set(re.findall(r"`([\w<>-]+(?:/[\w<>.-]*)*\.?\w*)`", steps))
    found = {name for name in found if "/" in name or name.endswith(".toml")}
    for placeholder, name in names.items():
        found = {one.replace(f"<{placeholder}>", name) for one in found}
    return found


def insert(file: Path, before: str, line: str) -> None:
    """Put a line before the one that begins so."""
    text = file.read_text()
    assert f"\n{before}" in text
    file.write_text(text.replace(f"\n{before}", f"\n{line}\n{before}", 1))


def texts(root: Path) -> dict[str, bytes]:
    files = (path for path in (root / "app").rglob("*") if path.is_file() and path.suffix != ".pyc")
    return {str(path.relative_to(root)): path.read_bytes() for path in files}


def changed(root: Path, before: dict[str, bytes]) -> set[str]:
    return {path for path, text in texts(root).items() if before.get(path) != text}


def python(root: Path, *words: str) -> str:
    """What a program prints, run with the modules of this tree."""
    asked = [sys.executable, "-B", *words]
    done = subprocess.run(asked, cwd=root, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout
