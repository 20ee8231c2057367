"""An op of a traced function has the line that the user wrote it in, though AutoGraph joins lines."""

from __future__ import annotations

from pathlib import Path

from tests.integration.recording import SCRIPTS, record


def test_each_read_is_told_at_its_own_line(hopscope_home: Path, tf_python: Path) -> None:
    recorded = record(tf_python, SCRIPTS / "lines.py")
    assert recorded.run.state == "finished", recorded.log[-2000:]
    found = {
        name: hop["site"]
        for finding in recorded.report["findings"]
        if finding["code"] == "variable-home"
        for hop in [recorded.report["hops"][index] for index in finding["hops"]]
        for name in finding["evidence"]["variable"].split()
    }
    text = (SCRIPTS / "lines.py").read_text().splitlines()
    lines = {line[-1]: number for number, line in enumerate(text, 1) if "# reads " in line}
    lines["d"] = text.index("                z") + 1
    assert found == {name: f"lines.py:{number}" for name, number in lines.items()}
