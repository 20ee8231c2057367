"""The machine's clock set by hours, forwards and backwards, while a run goes on."""

from __future__ import annotations

import json
import math
import os
import random
import shutil
import struct
import subprocess
import time
from pathlib import Path

from app.reports.run_report import run_report
from runners.runs import registry
from runners.supervise.sample_rows import SAMPLES_NAME
from tests.faults.bench import Skipped, bench, until

SOURCE = Path(__file__).with_name("clock.c")
OFFSET = struct.Struct("=q")
HOURS = (-26, -5, -1, 1, 5, 26)


def play(folder: Path, number: int, chance: random.Random) -> None:
    """A jump while the run goes on: it ends as it would, and no time that is shown is negative."""
    folder.mkdir(parents=True)
    clock = folder / "clock"
    clock.write_bytes(OFFSET.pack(0))
    variables = {"LD_PRELOAD": str(_library(folder)), "HOPSCOPE_FAULTS_CLOCK": str(clock)}
    seconds = round(3600 * (HOURS[number % len(HOURS)] + chance.random()))
    with bench(folder / "work") as made:
        os.environ.update(variables)
        try:
            run = made.launch()
        finally:
            for name in variables:
                del os.environ[name]
        samples = run.path / SAMPLES_NAME
        until(lambda: samples.read_bytes().count(b"\n") >= 2, "two samples are there")
        clock.write_bytes(OFFSET.pack(seconds))
        known = samples.read_bytes().count(b"\n")
        until(lambda: samples.read_bytes().count(b"\n") >= known + 2, "samples go on")
        made.check_goes_on()
        made.release()
        run = registry.wait(run, 60)
        assert (run.state, run.exit_code, run.reason) == ("finished", 0, None), run.judge()
        report = run_report(run.path)
        json.dumps(report, allow_nan=False)
        took = run.took_s(time.time())
        assert took is None or took >= 0, f"it took {took} s"
        monotonic = [json.loads(line)["mono"] for line in samples.read_text().splitlines()]
        assert monotonic == sorted(monotonic), "samples are out of order"
        assert not math.isnan(sum(monotonic))
        made.check_ended(run)
        times = [json.loads(line)["t"] for line in samples.read_text().splitlines()]
        assert abs(times[-1] - times[0] - seconds) < 60, "the clock was not set"


def _library(folder: Path) -> Path:
    compiler = os.environ.get("CC") or next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None:
        raise Skipped("there is no C compiler here for the clock that is set")
    library = folder / "clock.so"
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", str(library), str(SOURCE)], check=True)
    return library
