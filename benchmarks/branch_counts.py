"""What counting hops in loops and branches costs: python benchmarks/branch_counts.py [--pairs N] [WORKLOAD..]

Each round runs a workload twice at the same time, each process on a core of its own: not recorded, and
recorded as by default (sampled); then not recorded, and with exact counts (`run --exact`). Printed are the
medians over the rounds of the ratios to the run that was not recorded, with 95 % bootstrap intervals: of the
CPU time, and of the mean step. Two processes that are not recorded tell how far the method itself is off.
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
PLAIN = paired.Condition()
CONDITIONS = {
    "not recorded": PLAIN,
    "recorded": paired.Condition(record=True),
    "exact": paired.Condition(record=True, env={"HOPSCOPE_EXACT": "1"}),
}


def main() -> None:
    """Measure, print a table, and with --json one object as the last line."""
    args = paired.parse(__doc__, list(LIMITS), "TensorFlow")
    python = args.python or environments.environment("tensorflow").python
    results: dict[str, object] = {}
    for workload in args.workloads:
        limit = LIMITS[workload]
        print(
            f"{workload}, {args.pairs} rounds of {args.steps} steps"
            + (f", to reach {limit}" if limit else "")
        )
        found = {}
        for name, condition in CONDITIONS.items():
            command = paired.command(python, workload, args)
            rounds = paired.side_by_side(command, PLAIN, condition, args.pairs)
            cpu = paired.estimate([other.cpu_ns / plain.cpu_ns for plain, other in rounds])
            wall = paired.estimate([other.mean_ns / plain.mean_ns for plain, other in rounds])
            added = statistics.median(other.peak_bytes - plain.peak_bytes for plain, other in rounds)
            own = statistics.median(plain.cpu_ns for plain, _ in rounds) / args.steps / 1e6
            print(
                f"  {name:<12} / not, CPU {cpu}; wall {wall}; {added / 1e6:.0f} MB more;"
                f" not recorded {own:.3f} ms of CPU a step",
                flush=True,
            )
            found[name] = {"cpu": cpu._asdict(), "wall": wall._asdict(), "memory_added_bytes": added}
        results[workload] = {"rounds": args.pairs, **found}
    if args.json:
        print(json.dumps(results))


if __name__ == "__main__":
    main()
