"""What a sample of all GPUs costs beside gpustat and nvitop: python benchmarks/sampler_cost.py [--rounds N]

All three run against the double of NVIDIA's driver (tests/nvml), so that they are asked for the same eight
GPUs and the same processes, and NVML's own time, which is the same for all, is next to nothing: compared is
what each program does around it. The figures say nothing of a real driver's time.

Sampled are: ours, `python -m probes.nvml.sampler`, which also writes each sample as JSON and reads the host;
gpustat, `GPUStatCollection.new_query()`; nvitop, for `Device.all()` each `device.as_snapshot()`, then
`device.processes()` and `GpuProcess.take_snapshots(..)`, as the background threads of its two panels do.
Neither of those draws or formats anything here. nvmlDeviceGetPcieThroughput sleeps 20 ms, as a real one does.

In each round the three run side by side, each once a second, and after a few samples the CPU clock that the
kernel keeps of each process is read before and after the same number of samples. A round gives the CPU time
a sample, and the ratio of ours to the cheaper of the others; printed are medians over rounds, with 95 %
bootstrap intervals.

gpustat and nvitop (benchmarks/requirements.txt) are taken from this interpreter where it has them, else from
an environment of their own that is made beside the others: .venvs/peers, or `peers` in $HOPSCOPE_ENVS.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import paired

from probes.nvml.missing import is_missing
from runners.environments.install import install
from runners.environments.pythons import THIS
from runners.environments.virtualenv import Recipe, VirtualEnvironment
from tests.nvml import NvmlDouble, why_not

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 0.7
"""The largest ratio to the cheaper of the others to reach."""
GPUS = 8
PROCESSES = 6
WARM = 3
OURS = "ours"
USER = "import ctypes, sys; ctypes.CDLL('libnvidia-ml.so.1'); print(flush=True); sys.stdin.read()"


def main() -> None:
    """Measure, print a table, and with --json one object as the last line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--samples", type=int, default=20, help="a round; 10 s make one turn of all figures")
    parser.add_argument("--hz", type=float, default=1.0)
    parser.add_argument("--json", action="store_true", help="print one object as the last line")
    args = parser.parse_args()
    if reason := why_not():
        raise SystemExit(reason)
    python = peers_python()
    with tempfile.TemporaryDirectory() as folder, NvmlDouble(Path(folder), GPUS) as double:
        double.animate()
        double.delay("nvmlDeviceGetPcieThroughput", 0.02)
        with users(double):
            rounds = [one_round(double, python, args) for _ in range(args.rounds)]
    result = tell(rounds, args)
    if args.json:
        print(json.dumps(result))


def peers_python() -> Path:
    """An interpreter that has gpustat and nvitop."""
    with contextlib.suppress(ImportError):
        import gpustat  # noqa: F401
        import nvitop  # noqa: F401

        return Path(sys.executable)
    chosen = os.environ.get("HOPSCOPE_ENVS")
    folder = Path(chosen) if chosen else ROOT / ".venvs"
    environment = VirtualEnvironment(folder / "peers", folder, "peers")
    recipe = Recipe("peers", (ROOT / "benchmarks" / "requirements.txt",))
    install(environment, recipe, THIS, lambda _step: None)
    return environment.python


@contextlib.contextmanager
def users(double: NvmlDouble) -> Iterator[None]:
    """Processes that have the driver open, on the first GPUs."""
    with contextlib.ExitStack() as stack:
        for number in range(PROCESSES):
            process = subprocess.Popen(
                [sys.executable, "-c", USER],
                env=os.environ | double.environment(cuda=False),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            stack.callback(process.communicate)
            assert process.stdout
            process.stdout.readline()
            double.add_process(number // 2, process.pid, memory=(number + 1) << 30, sm=10 * number)
        yield


class Cost(NamedTuple):
    """What one program's sample costs."""

    cpu_ms: float
    figures: int
    """How many figures of a GPU had a value."""


class Spent(NamedTuple):
    """The CPU time that a process has had after what it said."""

    cpu_ns: int
    lines: list[str]


def one_round(double: NvmlDouble, python: Path, args: argparse.Namespace) -> dict[str, Cost]:
    """Run the three side by side."""
    commands = {
        OURS: [sys.executable, "-m", "probes.nvml.sampler", "--hz", str(args.hz)],
        **{
            name: [str(python), str(ROOT / "benchmarks" / "peer_samplers.py"), name, str(args.hz)]
            for name in ("gpustat", "nvitop")
        },
    }
    variables = os.environ | double.environment(cuda=False)
    with contextlib.ExitStack() as stack:
        children = {}
        for name, command in commands.items():
            child = subprocess.Popen(
                command, cwd=ROOT, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            stack.callback(child.communicate)
            stack.callback(child.kill)
            children[name] = child
            time.sleep(1 / args.hz / len(commands))
        before = {name: after(child, WARM) for name, child in children.items()}
        end = {name: after(child, args.samples) for name, child in children.items()}
    said = {name: before[name].lines + end[name].lines for name in children}
    return {
        name: Cost((end[name].cpu_ns - before[name].cpu_ns) / args.samples / 1e6, figures(name, said[name]))
        for name in children
    }


def after(child: subprocess.Popen[str], samples: int) -> Spent:
    """Wait for so many samples."""
    assert child.stdout
    lines = [child.stdout.readline() for _ in range(samples)]
    if not lines[-1]:
        raise SystemExit(f"a program ended before its samples were taken: {child.args!r}")
    # Linux: the CPU clock of another process, in which all its threads count.
    return Spent(time.clock_gettime_ns((~child.pid << 3) | 2), lines)


def figures(name: str, lines: list[str]) -> int:
    """How many figures of the first GPU had a value in the last sample."""
    if name != OURS:
        return int(json.loads(lines[-1])["figures"])
    known: dict[str, Any] = {}
    for line in lines:
        for gpu in json.loads(line).get("gpus", []):
            if gpu["index"] == 0:
                known |= gpu
    return sum(not is_missing(value) for name, value in known.items() if name not in ("index", "unreadable"))


def tell(rounds: list[dict[str, Cost]], args: argparse.Namespace) -> dict[str, Any]:
    """Print a line for each program and the ratio."""
    rate = f"{args.samples} samples at {args.hz:g} Hz"
    print(f"{GPUS} GPUs, {PROCESSES} processes, {len(rounds)} rounds of {rate}")
    result: dict[str, Any] = {}
    for name in rounds[0]:
        cost = paired.estimate([one[name].cpu_ms for one in rounds])
        shown = statistics.median(one[name].figures for one in rounds)
        print(f"  {name:8} CPU a sample, ms  {cost}   {shown:.0f} figures a GPU")
        result[name] = {"cpu_ms": cost._asdict(), "figures": shown}
    ratio = paired.estimate(
        [one[OURS].cpu_ms / min(one["gpustat"].cpu_ms, one["nvitop"].cpu_ms) for one in rounds]
    )
    print(f"  ours / the cheaper of the others  {ratio}, to reach {LIMIT:.2f}", flush=True)
    return {**result, "ratio": ratio._asdict()}


if __name__ == "__main__":
    main()
