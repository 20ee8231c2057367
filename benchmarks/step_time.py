"""What recording costs a TensorFlow training step: python benchmarks/step_time.py [--pairs N] [WORKLOAD..]

Each pair of processes of a workload runs at the same time, each on a core of its own: one recorded, one not.
A pair gives the ratio of its two median step times, and of the means, which also see what happens seldom.
Printed is the median over the pairs, with a 95 % bootstrap interval, and the peak memory that the recorder
added. With `--before TREE` the recorder of another checkout is measured as well. Let nothing else run.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import paired

from runners.environments import environments

LIMITS = {"tf_graph_step": 1.03, "tf_eager_step": 1.10, "keras_fit": None}
"""The largest ratio of medians to reach, where one is set."""
CONDITIONS = {"recorded": paired.RECORDED}


def main() -> None:
    """Measure, print a table, and with --json one object as the last line."""
    args = paired.parse(__doc__, list(LIMITS), "TensorFlow")
    python = args.python or environments.environment("tensorflow").python
    results = {}
    for name in args.workloads:
        limit = LIMITS[name]
        title = f"{name}, medians to reach {limit:.2f} when recorded" if limit else name
        command = paired.command(python, name, args)
        results[name] = paired.measure(title, command, CONDITIONS, args, paired.side_by_side)
    if args.json:
        print(json.dumps(results))


if __name__ == "__main__":
    main()
