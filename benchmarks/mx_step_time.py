"""What recording costs an MXNet training step: python benchmarks/mx_step_time.py [--pairs N] [WORKLOAD..]

Each workload runs in rounds of four processes, each round beginning with another one:

    plain         not recorded
    recorded      with the recorder
    mx.profiler   not recorded, with MXNet's own profiler on: operators and memory, no C calls
    NaiveEngine   not recorded, with MXNET_ENGINE_TYPE=NaiveEngine: each op ends before Python goes on

A round gives the ratio of each median step time to the plain one's. Printed is the median over the rounds,
with a 95 % bootstrap interval, the same of the means and of the quickest tenths (the time that a tenth of the
steps stay below), and the peak memory added. Let nothing else run beside it: processes that come and go show
in the intervals, in those of the quickest tenths least.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import paired

from runners.environments import environments

LIMITS = {"mx_eager_step": 1.10, "mx_hybrid_step": 1.10, "mx_module_fit": None}
"""The largest ratio of medians to reach when recorded, where one is set."""
CONDITIONS = {
    "plain": paired.Condition(),
    "recorded": paired.Condition(record=True),
    "mx.profiler": paired.Condition(env={"HOPSCOPE_BENCHMARK_PROFILE": "profile.json"}),
    "NaiveEngine": paired.Condition(env={"MXNET_ENGINE_TYPE": "NaiveEngine"}),
}


def main() -> None:
    """Measure, print a table a workload, and with --json one object as the last line."""
    args = paired.parse(__doc__, list(LIMITS), "MXNet")
    python = args.python or environments.environment("mxnet").python
    results = {
        workload: measure(workload, paired.command(python, workload, args), args.pairs)
        for workload in args.workloads
    }
    if args.json:
        print(json.dumps(results))


def measure(workload: str, command: Sequence[str], rounds: int) -> dict[str, object]:
    """Run the rounds and print one line a condition."""
    measured = paired.rounds(command, CONDITIONS, rounds)
    limit = LIMITS[workload]
    print(f"{workload}, {rounds} rounds" + (f"; recorded is to reach {limit:.2f}" if limit else ""))
    print(
        f"  {'':13}{'step':>9}  {'of medians':22}  {'of means':22}  {'of quickest tenths':22}  memory added"
    )
    results: dict[str, object] = {"rounds": rounds}
    for name in CONDITIONS:
        pairs = [(each["plain"], each[name]) for each in measured]
        step_ms = statistics.median(run.median_ns for _, run in pairs) / 1e6
        medians = paired.estimate([run.median_ns / plain.median_ns for plain, run in pairs])
        means = paired.estimate([run.mean_ns / plain.mean_ns for plain, run in pairs])
        quickest = paired.estimate([run.quick_ns / plain.quick_ns for plain, run in pairs])
        added = statistics.median(run.peak_bytes - plain.peak_bytes for plain, run in pairs)
        line = f"  {name:13}{step_ms:6.3f} ms"
        if name != "plain":
            line += f"  {medians!s:22}  {means!s:22}  {quickest!s:22}  {added / 1e6:.0f} MB"
        print(line, flush=True)
        results[name] = {
            "step_ms": step_ms,
            "ratio_of_medians": medians._asdict(),
            "ratio_of_means": means._asdict(),
            "ratio_of_quickest_tenths": quickest._asdict(),
            "memory_added_bytes": added,
        }
    return results


if __name__ == "__main__":
    main()
