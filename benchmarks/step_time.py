"""What recording costs a TensorFlow training step: python benchmarks/step_time.py [--pairs N] [WORKLOAD..]

Each workload runs in pairs of processes, one recorded and one not, in turn one first and then the other.
A pair gives the ratio of its two median step times (and of the means, which also see what happens
seldom). Printed is the median over the pairs, with a 95 % bootstrap interval, and the peak memory that
the recorder added. Let nothing else run beside it: processes that come and go show in the intervals.
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

LIMITS = {"tf_graph_step": 1.03, "tf_eager_step": 1.10, "keras_fit": None}
"""The largest ratio of medians to reach, where one is set."""
CONDITIONS = {"plain": paired.Condition(), "recorded": paired.Condition(record=True)}


def main() -> None:
    """Measure, print a table, and with --json one object as the last line."""
    args = paired.parse(__doc__, list(LIMITS), "TensorFlow")
    python = args.python or environments.environment("tensorflow").python
    results = {
        workload: measure(workload, paired.command(python, workload, args), args.pairs)
        for workload in args.workloads
    }
    if args.json:
        print(json.dumps(results))


def measure(workload: str, command: Sequence[str], pairs: int) -> dict[str, object]:
    """Run the pairs and print one line a figure."""
    measured = [(pair["plain"], pair["recorded"]) for pair in paired.rounds(command, CONDITIONS, pairs)]
    medians = paired.estimate([recorded.median_ns / plain.median_ns for plain, recorded in measured])
    means = paired.estimate([recorded.mean_ns / plain.mean_ns for plain, recorded in measured])
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


if __name__ == "__main__":
    main()
