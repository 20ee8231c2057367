"""What counting hops in loops and branches costs: python benchmarks/branch_counts.py [--pairs N] [WORKLOAD..]

Each round runs a workload in three processes, one after the other and each time another one first: not
recorded, recorded as by default (sampled), recorded with exact counts (`run --exact`). Printed are the
medians over the rounds of the ratios to the run that was not recorded, with 95 % bootstrap intervals: of the
CPU time, and of the mean step. Single runs of fit under MirroredStrategy have one of two step times by
chance, so judge by the CPU time.
"""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import paired

from runners.environments import environments

LIMITS = {"keras_fit_mirrored": 1.05, "tf_loop_step": None}
"""The largest ratio of CPU times to reach, where one is set."""
CONDITIONS = {
    "plain": paired.Condition(),
    "recorded": paired.Condition(record=True),
    "exact": paired.Condition(record=True, env={"HOPSCOPE_EXACT": "1"}),
}


def main() -> None:
    """Measure, print a table, and with --json one object as the last line."""
    args = paired.parse(__doc__, list(LIMITS), "TensorFlow")
    python = args.python or environments.environment("tensorflow").python
    results: dict[str, object] = {}
    for workload in args.workloads:
        rounds = paired.rounds(paired.command(python, workload, args), CONDITIONS, args.pairs)
        limit = LIMITS[workload]
        print(
            f"{workload}, {args.pairs} rounds of {args.steps} steps"
            + (f", to reach {limit}" if limit else "")
        )
        plain = statistics.median(one["plain"].cpu_ns for one in rounds) / args.steps / 1e6
        print(f"  not recorded               {plain:.3f} ms of CPU a step")
        found = {}
        for name in ("recorded", "exact"):
            cpu = paired.estimate([one[name].cpu_ns / one["plain"].cpu_ns for one in rounds])
            wall = paired.estimate([one[name].mean_ns / one["plain"].mean_ns for one in rounds])
            added = statistics.median(one[name].peak_bytes - one["plain"].peak_bytes for one in rounds)
            print(f"  {name:<10} / not, CPU      {cpu}; wall {wall}; {added / 1e6:.0f} MB more", flush=True)
            found[name] = {"cpu": cpu._asdict(), "wall": wall._asdict(), "memory_added_bytes": added}
        results[workload] = {"rounds": args.pairs, "plain_cpu_ms": plain, **found}
    if args.json:
        print(json.dumps(results))


if __name__ == "__main__":
    main()
