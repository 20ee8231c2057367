"""Lines of notebooks' cells are told by the number of the cell, with the text that was typed."""

from __future__ import annotations

import json
import linecache
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

from probes.trace.recording import Recording
from probes.trace.sources import kept_name

KERNEL, TERMINAL = "/tmp/ipykernel_7/123.py", "<ipython-input-4-abc>"
TEXT = "def where(recording):\n    return recording.sites.current(0)\n"


@pytest.fixture
def where(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, object]]:
    """What the cells define, by their file's name, as IPython compiles them."""
    shell = types.SimpleNamespace(compile=types.SimpleNamespace(_filename_map={KERNEL: 3, TERMINAL: 4}))
    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: shell  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    made: dict[str, object] = {}
    for name in (KERNEL, TERMINAL, "<string>"):
        scope: dict[str, object] = {}
        exec(compile(TEXT, name, "exec"), scope)
        made[name] = scope["where"]
        monkeypatch.setitem(linecache.cache, name, (len(TEXT), None, TEXT.splitlines(True), name))
    yield made


def test_sites_and_text_of_cells(where: dict[str, object], tmp_path: Path) -> None:
    recording = Recording(str(tmp_path / "trace"), "mxnet", str(tmp_path))
    numbers = {name: function(recording) for name, function in where.items()}  # type: ignore[operator]
    recording.end()
    (trace,) = (tmp_path / "trace").glob("*.jsonl")
    rows = [json.loads(line) for line in trace.read_text().splitlines()]
    strings = {row[1]: row[2] for row in rows if row[0] == "S"}
    sites = {row[1]: (strings[row[2]], strings[row[4]]) for row in rows if row[0] == "L"}
    assert sites[numbers[KERNEL]] == ("In[3]:2", KERNEL)
    assert sites[numbers[TERMINAL]] == ("In[4]:2", TERMINAL)
    # Code of no file that anybody typed is charged to who runs it.
    assert sites[numbers["<string>"]][1] == __file__
    kept = tmp_path / "trace" / "source"
    assert {(kept / kept_name(name)).read_text() for name in (KERNEL, TERMINAL)} == {TEXT}
