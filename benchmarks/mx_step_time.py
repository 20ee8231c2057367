"""What recording costs an MXNet training step: python benchmarks/mx_step_time.py [--pairs N] [WORKLOAD..]

Each workload runs in pairs of processes, one of them not recorded, the other one

    recorded      with the recorder
    mx.profiler   not recorded, with MXNet's own profiler on: operators and memory, no C calls
    NaiveEngine   not recorded, with MXNET_ENGINE_TYPE=NaiveEngine: each op ends before Python goes on

in turn, since MXNet works in threads of its own while Python goes on. A pair gives the ratio of its two
median step times, and of the means. Printed is the median over the pairs, with a 95 % bootstrap interval, and
the peak memory added. With `--before TREE` the recorder of another checkout is measured as well.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import paired

from runners.environments import environments

LIMITS = {"mx_eager_step": 1.10, "mx_hybrid_step": 1.10, "mx_module_fit": None}
"""The largest ratio of medians to reach when recorded, where one is set."""
CONDITIONS = {
    "recorded": paired.RECORDED,
    "mx.profiler": paired.Condition(env={"HOPSCOPE_BENCHMARK_PROFILE": "profile.json"}),
    "NaiveEngine": paired.Condition(env={"MXNET_ENGINE_TYPE": "NaiveEngine"}),
}


def main() -> None:
    """Measure, print a table a workload, and with --json one object as the last line."""
    args = paired.parse(__doc__, list(LIMITS), "MXNet")
    python = args.python or environments.environment("mxnet").python
    results = {}
    for name in args.workloads:
        limit = LIMITS[name]
        title = f"{name}, medians to reach {limit:.2f} when recorded" if limit else name
        command = paired.command(python, name, args)
        results[name] = paired.measure(title, command, CONDITIONS, args, paired.in_turn)
    if args.json:
        print(json.dumps(results))


if __name__ == "__main__":
    main()
