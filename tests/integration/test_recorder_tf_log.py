"""What a recorded program's log has is what the program prints without the recorder."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.integration.recording import SCRIPTS, record


def test_the_verbose_log_stays_out_of_the_programs(hopscope_home: Path, tf_python: Path) -> None:
    script = SCRIPTS / "scan_gradient.py"
    alone = subprocess.run([tf_python, script], capture_output=True, text=True, timeout=120, check=True)
    recorded = record(tf_python, script, exact=True)
    assert recorded.run.state == "finished", recorded.log[-2000:]
    told = _lines(recorded.log)
    assert told == _lines(alone.stdout + alone.stderr)
    assert {"told from within", "it failed"} < set(told)


def _lines(log: str) -> list[str]:
    """The lines without times, threads and graphs' numbers, sorted: what a call told comes after it."""
    log = re.sub(r"(?m)^([IWEF]\d{4}) \S+ +\d+ |_\d+(?=}}\{\{)", r"\1 ", log)
    return sorted(log.splitlines())
