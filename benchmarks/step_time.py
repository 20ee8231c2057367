"""What recording costs a training step: python benchmarks/step_time.py [--pairs N] [WORKLOAD..]

Each workload runs in pairs of processes, one recorded and one not, in turn one first and then the other.
A pair gives the ratio of its two median step times (and of the means, which also see what happens
seldom). Printed is the median over the pairs, with a 95 % bootstrap interval, and the peak memory that
the recorder added. Let nothing else run beside it: processes that come and go show in the intervals.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from runners import environments

WORKLOADS = Path(__file__).resolve().parent / "workloads"
INJECT = WORKLOADS.parent.parent / "probes" / "inject"
LIMITS = {"tf_graph_step": 1.03, "tf_eager_step": 1.10, "keras_fit": None}
"""The largest ratio of medians to reach, where one is set."""
RESAMPLES = 5000


class Run(NamedTuple):
    """One process of a workload."""

    median_ns: float
    mean_ns: float
    peak_bytes: int


class Estimate(NamedTuple):
    """A median over pairs, and its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def main() -> None:
    """Measure, print a table, and with --json one object as the last line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=f"of {', '.join(LIMITS)}")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--steps", type=int, default=1000, help="timed steps of one process")
    parser.add_argument(
        "--warmup", type=int, default=250, help="steps before them; the recorder writes more then"
    )
    parser.add_argument("--python", type=Path, help="an interpreter that has TensorFlow")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    unknown = set(args.workloads) - set(LIMITS)
    if unknown:
        parser.error(f"no workload {', '.join(sorted(unknown))}; there are {', '.join(LIMITS)}")
    python = args.python or environments.environment("tensorflow").python

    results = {}
    for workload in args.workloads or LIMITS:
        command = [str(python), str(WORKLOADS / f"{workload}.py")]
        command += ["--steps", str(args.steps), "--warmup", str(args.warmup)]
        results[workload] = measure(workload, command, args.pairs)
    if args.json:
        print(json.dumps(results))


def measure(workload: str, command: Sequence[str], pairs: int) -> dict[str, object]:
    """Run the pairs and print one line a figure."""
    measured = [pair(command, recorded_first=bool(number % 2)) for number in range(pairs)]
    medians = estimate([recorded.median_ns / plain.median_ns for plain, recorded in measured])
    means = estimate([recorded.mean_ns / plain.mean_ns for plain, recorded in measured])
    plain_ms = statistics.median(plain.median_ns for plain, _ in measured) / 1e6
    recorded_ms = statistics.median(recorded.median_ns for _, recorded in measured) / 1e6
    added = statistics.median(recorded.peak_bytes - plain.peak_bytes for plain, recorded in measured)
    limit = LIMITS[workload]
    print(f"{workload}, {pairs} pairs")
    print(f"  step, not recorded and recorded   {plain_ms:.3f} ms, {recorded_ms:.3f} ms")
    print(f"  recorded / not, of medians        {medians}" + (f", to reach {limit:.2f}" if limit else ""))
    print(f"  recorded / not, of means          {means}")
    print(f"  peak memory added                 {added / 1e6:.0f} MB", flush=True)
    return {
        "pairs": pairs,
        "plain_ms": plain_ms,
        "recorded_ms": recorded_ms,
        "ratio_of_medians": medians._asdict(),
        "ratio_of_means": means._asdict(),
        "memory_added_bytes": added,
    }


def pair(command: Sequence[str], *, recorded_first: bool) -> tuple[Run, Run]:
    """One process not recorded and one recorded, in either order."""
    if recorded_first:
        recorded = run(command, record=True)
        return run(command, record=False), recorded
    return run(command, record=False), run(command, record=True)


def run(command: Sequence[str], *, record: bool) -> Run:
    """Run a workload as the launcher would, recorded or with the recorder off."""
    with tempfile.TemporaryDirectory(prefix="hopscope-benchmark-") as folder:
        path = os.pathsep.join(filter(None, [str(INJECT), os.environ.get("PYTHONPATH")]))
        env = {"PYTHONPATH": path, "HOPSCOPE_RUN_DIR": folder, "HOPSCOPE_TRACE": "1" if record else "0"}
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            child = subprocess.Popen(command, stdout=out, stderr=err, env={**os.environ, **env})
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            err.seek(0)
            if child.returncode != 0:
                raise SystemExit(f"{' '.join(command)} ended with {child.returncode}:\n{err.read()[-2000:]}")
            times = json.loads(out.read().splitlines()[-1])
        if record and not list(Path(folder, "trace").glob("*.jsonl")):
            raise SystemExit("the recorded process left no trace: what was measured is not the recorder")
    return Run(statistics.median(times), statistics.fmean(times), usage.ru_maxrss * 1024)


def estimate(ratios: Sequence[float]) -> Estimate:
    """The median of the pairs' ratios, with a percentile bootstrap over pairs."""
    draw = random.Random(0)
    resampled = sorted(statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(RESAMPLES))
    low, high = resampled[int(0.025 * RESAMPLES)], resampled[int(0.975 * RESAMPLES)]
    return Estimate(statistics.median(ratios), low, high)


if __name__ == "__main__":
    main()
