"""What counting hops in loops and branches costs: python benchmarks/branch_counts.py [--pairs N] [WORKLOAD..]

Each pair of processes of a workload runs at the same time, each on a core of its own: one that is not
recorded beside one that is recorded as by default (sampled), one with exact counts (`run --exact`), and
another that is not recorded, which tells how far the method itself is off. Printed are the medians over the
pairs of the ratios, with 95 % bootstrap intervals: of the step times, and of the CPU time, which decides.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import paired

from runners.environments import environments

LIMITS = {"keras_fit_mirrored": 1.05, "tf_loop_step": None}
"""The largest ratio of CPU times to reach, where one is set."""
CONDITIONS = {
    "not recorded": paired.PLAIN,
    "recorded": paired.RECORDED,
    "exact": paired.Condition(record=True, env={"HOPSCOPE_EXACT": "1"}),
}


def main() -> None:
    """Measure, print a table, and with --json one object as the last line."""
    args = paired.parse(__doc__, list(LIMITS), "TensorFlow")
    python = args.python or environments.environment("tensorflow").python
    results = {}
    for name in args.workloads:
        limit = LIMITS[name]
        title = f"{name}, CPU time to reach {limit}" if limit else name
        command = paired.command(python, name, args)
        results[name] = paired.measure(title, command, CONDITIONS, args, paired.side_by_side)
    if args.json:
        print(json.dumps(results))


if __name__ == "__main__":
    main()
