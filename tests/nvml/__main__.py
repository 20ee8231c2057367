"""Runs a command on the double: `python -m tests.nvml --gpus 8 [--animate] -- COMMAND ..`."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.nvml.control import NvmlDouble
from tests.nvml.groups import OLD_DRIVER
from tests.nvml.missing import why_not


def main(argv: list[str]) -> int:
    """Run the command to its end and give its status."""
    parser = argparse.ArgumentParser(prog="python -m tests.nvml", description=__doc__)
    parser.add_argument("--gpus", type=int, default=8, help="how many, 0 to 16")
    parser.add_argument("--animate", action="store_true", help="let load, memory, power and clocks swing")
    parser.add_argument("--processes", action="store_true", help="put the command itself on GPUs 0 and 1")
    parser.add_argument(
        "--slow-pcie", action="store_true", help="20 ms a reading of the PCIe throughput, as real"
    )
    parser.add_argument("--no-cuda", action="store_true", help="without the double of CUDA's driver")
    parser.add_argument("--old-driver", action="store_true", help="a driver of the 470 series")
    parser.add_argument(
        "--lost", type=int, action="append", default=[], metavar="GPU", help="a GPU that is lost"
    )
    parser.add_argument("command", nargs=argparse.REMAINDER, help="after --")
    options = parser.parse_args(argv)
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        parser.error("name a command after --")
    if reason := why_not():
        print(f"the double cannot be made: {reason}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        without = OLD_DRIVER if options.old_driver else frozenset[str]()
        with NvmlDouble(Path(folder), options.gpus, without=without) as double:
            if options.animate:
                double.animate()
            if options.slow_pcie:
                double.delay("nvmlDeviceGetPcieThroughput", 0.02)
            for gpu in options.lost:
                double.lose(gpu)
            variables = double.environment(cuda=not options.no_cuda)
            with subprocess.Popen(command, env=os.environ | variables) as child:
                if options.processes:
                    for gpu in range(min(2, options.gpus)):
                        double.add_process(gpu, child.pid)
                while True:
                    try:
                        return child.wait()
                    except KeyboardInterrupt:
                        # The command heard it too, and decides.
                        continue


sys.exit(main(sys.argv[1:]))
