"""Times the steps of a workload and prints them as its last line: JSON, in nanoseconds."""

import argparse
import json
import time
from collections.abc import Callable


def steps() -> tuple[int, int]:
    """How many steps to warm up with, and how many to time, from the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--warmup", type=int, default=30)
    parser.add_argument("--steps", type=int, default=1000)
    args = parser.parse_args()
    return args.warmup, args.steps


def run(step: Callable[[], object]) -> None:
    """Call `step` as often as the command line says; print what each call took, and the CPU time of all."""
    warmup, count = steps()
    for _ in range(warmup):
        step()
    times = []
    cpu = time.process_time_ns()
    for _ in range(count):
        begin = time.perf_counter_ns()
        step()
        times.append(time.perf_counter_ns() - begin)
    cpu = time.process_time_ns() - cpu
    print(json.dumps({"times": times, "cpu_ns": cpu}), flush=True)
