"""Runs of one workload under several conditions, each beside one that is not recorded, and their ratios."""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

WORKLOADS = Path(__file__).resolve().parent / "workloads"
TREE = WORKLOADS.parent.parent
INJECT = TREE / "probes" / "inject"
RESAMPLES = 5000


class Condition(NamedTuple):
    """What differs between the runs of a round."""

    record: bool = False
    env: Mapping[str, str] = {}
    inject: Path = INJECT
    """What starts the recorder: of this tree, or of another version of it."""


PLAIN = Condition()
RECORDED = Condition(record=True)


class Run(NamedTuple):
    """One process of a workload."""

    median_ns: float
    mean_ns: float
    peak_bytes: int
    cpu_ns: float
    """Of all timed steps, threads of the runtime included; 0 where the workload does not measure it."""


class Estimate(NamedTuple):
    """A median over rounds, and its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def parse(description: str | None, workloads: Sequence[str], framework: str) -> argparse.Namespace:
    """The command line that all benchmarks of step times share."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=f"of {', '.join(workloads)}")
    parser.add_argument("--pairs", type=int, default=10, help="rounds of one process under each condition")
    parser.add_argument("--steps", type=int, default=1000, help="timed steps of one process")
    parser.add_argument(
        "--warmup", type=int, default=250, help="steps before them; the recorder writes more then"
    )
    parser.add_argument(
        "--before",
        type=Path,
        metavar="TREE",
        help="a checkout of another version: its recorder, too",
    )
    parser.add_argument("--python", type=Path, help=f"an interpreter that has {framework}")
    parser.add_argument("--json", action="store_true", help="print one object as the last line")
    args = parser.parse_args()
    unknown = set(args.workloads) - set(workloads)
    if unknown:
        parser.error(f"no workload {', '.join(sorted(unknown))}; there are {', '.join(workloads)}")
    args.workloads = args.workloads or list(workloads)
    return args


def command(python: Path, workload: str, args: argparse.Namespace) -> list[str]:
    """The command of one process of a workload."""
    script = str(WORKLOADS / f"{workload}.py")
    return [str(python.absolute()), script, "--steps", str(args.steps), "--warmup", str(args.warmup)]


def measure(
    title: str,
    command: Sequence[str],
    conditions: Mapping[str, Condition],
    args: argparse.Namespace,
    pairs_of: Callable[[Sequence[str], Condition, int], list[tuple[Run, Run]]],
) -> dict[str, object]:
    """Run a workload under each condition and not recorded, and print a line a condition.

    `pairs_of` is `side_by_side` or `in_turn`.
    """
    if args.before:
        inject = args.before.absolute() / INJECT.relative_to(TREE)
        conditions = {**conditions, "recorded before": Condition(record=True, inject=inject)}
    print(f"{title}, {args.pairs} pairs of {args.steps} steps, one of each not recorded")
    print(f"  {'':16}{'step':>9}  {'of medians':22}  {'of means':22}  {'of CPU time':22}  memory added")
    results: dict[str, object] = {"pairs": args.pairs}
    for name, condition in conditions.items():
        pairs = pairs_of(command, condition, args.pairs)
        step_ms = statistics.median(run.median_ns for _, run in pairs) / 1e6
        medians = estimate([run.median_ns / plain.median_ns for plain, run in pairs])
        means = estimate([run.mean_ns / plain.mean_ns for plain, run in pairs])
        cpu = estimate([run.cpu_ns / plain.cpu_ns for plain, run in pairs]) if pairs[0][0].cpu_ns else None
        added = statistics.median(run.peak_bytes - plain.peak_bytes for plain, run in pairs)
        figures = f"{medians!s:22}  {means!s:22}  {cpu or '-'!s:22}  {added / 1e6:.0f} MB"
        print(f"  {name:16}{step_ms:6.3f} ms  {figures}", flush=True)
        results[name] = {
            "step_ms": step_ms,
            "ratio_of_medians": medians._asdict(),
            "ratio_of_means": means._asdict(),
            "ratio_of_cpu": cpu and cpu._asdict(),
            "memory_added_bytes": added,
        }
    return results


def in_turn(command: Sequence[str], other: Condition, count: int) -> list[tuple[Run, Run]]:
    """Run the workload not recorded and under another condition, `count` times, the first one last next time.

    For frameworks whose work goes on in other threads while Python asks for more.
    """
    found = []
    for number in range(count):
        if number % 2:
            first = run(command, other)
            found.append((run(command, PLAIN), first))
        else:
            first = run(command, PLAIN)
            found.append((first, run(command, other)))
    return found


def side_by_side(command: Sequence[str], other: Condition, count: int) -> list[tuple[Run, Run]]:
    """Run the workload not recorded and under another condition at once, on a core each, `count` times.

    What slows the machine down slows both. The cores are swapped each time. On one core a workload's threads
    meet in one way only: of processes that may use two, some are faster than others by chance.
    """
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        raise SystemExit("two cores are needed to run two processes side by side")
    found = []
    with ThreadPoolExecutor(2) as pool:
        for number in range(count):
            first, second = cores[number % 2], cores[1 - number % 2]
            runs = [
                pool.submit(run, ["taskset", "-c", str(core), *command], condition)
                for core, condition in ((first, PLAIN), (second, other))
            ]
            found.append((runs[0].result(), runs[1].result()))
    return found


def run(command: Sequence[str], condition: Condition) -> Run:
    """Run a workload as the launcher would, recorded or with the recorder off."""
    with tempfile.TemporaryDirectory(prefix="hopscope-benchmark-") as folder:
        path = os.pathsep.join(filter(None, [str(condition.inject), os.environ.get("PYTHONPATH")]))
        env = {
            "PYTHONPATH": path,
            "HOPSCOPE_RUN_DIR": folder,
            "HOPSCOPE_TRACE": "1" if condition.record else "0",
        }
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            child = subprocess.Popen(
                command, stdout=out, stderr=err, cwd=folder, env={**os.environ, **env, **condition.env}
            )
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            err.seek(0)
            if child.returncode != 0:
                raise SystemExit(f"{' '.join(command)} ended with {child.returncode}:\n{err.read()[-2000:]}")
            printed = json.loads(out.read().splitlines()[-1])
        if condition.record and not list(Path(folder, "trace").glob("*.jsonl")):
            raise SystemExit("the recorded process left no trace: what was measured is not the recorder")
    times = printed["times"] if isinstance(printed, dict) else printed
    cpu_ns = printed["cpu_ns"] if isinstance(printed, dict) else 0
    return Run(statistics.median(times), statistics.fmean(times), usage.ru_maxrss * 1024, cpu_ns)


def estimate(ratios: Sequence[float]) -> Estimate:
    """The median of the rounds' ratios, with a percentile bootstrap over rounds."""
    draw = random.Random(0)
    resampled = sorted(statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(RESAMPLES))
    low, high = resampled[int(0.025 * RESAMPLES)], resampled[int(0.975 * RESAMPLES)]
    return Estimate(statistics.median(ratios), low, high)
