"""The MXNet workloads of the benchmarks run, plain and under the conditions that they are measured under."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

WORKLOADS = Path(__file__).parents[2] / "benchmarks" / "workloads"


@pytest.mark.parametrize("workload", ["mx_eager_step", "mx_hybrid_step", "mx_module_fit"])
def test_every_step_is_timed_and_the_profiler_sees_operators(
    mx_python: Path, tmp_path: Path, workload: str
) -> None:
    profile = tmp_path / "profile.json"
    done = subprocess.run(
        [mx_python, WORKLOADS / f"{workload}.py", "--steps", "5", "--warmup", "2"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "HOPSCOPE_BENCHMARK_PROFILE": str(profile)},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    printed = json.loads(done.stdout.splitlines()[-1])
    times = printed["times"] if isinstance(printed, dict) else printed
    assert len(times) == 5
    assert all(isinstance(time, int) and time > 0 for time in times)
    # Only the operators and the memory: no calls of the C interface.
    written = profile.read_text()
    assert "Memory: cpu/1" in written
    assert "MXNet C API Calls" not in written
