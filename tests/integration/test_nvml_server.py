"""The driver's library is loaded in the sampler alone: it can't be unloaded, and calls into it may hang."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.nvml import NvmlDouble

ROOT = Path(__file__).resolve().parents[2]
ASK = """
import json, sys, time
from runners.machine import gpus, monitor
found = gpus.list_gpus()
watching = monitor.shared()
watching.start()
while watching.snapshot is None:
    time.sleep(0.01)
again = gpus.known_gpus()
watching.stop()
maps = open("/proc/self/maps").read()
print(json.dumps([[card.uuid for card in found.cards], [card.uuid for card in again.cards],
    "pynvml" in sys.modules, "libnvidia-ml" in maps]))
"""


def test_listing_and_watching_load_no_driver_here(nvml_double: NvmlDouble) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ASK],
        cwd=ROOT,
        env=nvml_double.environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    listed, known, module, library = json.loads(done.stdout)
    assert len(listed) > 0
    assert listed == known
    assert not module
    assert not library
