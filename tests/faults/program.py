"""A program that records through the recorders' writer, prints a line a step, and keeps a ledger of both.

    python program.py NAME LEDGER HOLD STEPS [children]

It goes on until the file HOLD is gone, STEPS steps at most.
"""

import os
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from probes.trace.writer import TraceWriter

name, ledger_path, hold, steps = sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4]
begun = time.monotonic_ns()
if "children" in sys.argv:
    for leave in (False, True):
        if os.fork() == 0:
            if leave:
                os.setsid()
            while True:
                signal.pause()
header = {
    "run": "faults",
    "host": os.uname().nodename,
    "pid": os.getpid(),
    "process": "main",
    "member": name,
    "role": None,
    "rank": None,
    "framework": "tensorflow",
    "wall_ns": time.time_ns(),
    "mono_ns": begun,
}
writer = TraceWriter(os.environ["HOPSCOPE_RUN_DIR"] + "/trace", [f"main-{os.getpid()}"], header)
writer.append(["K", 1, "op", {"op": "MatMul", "device": "gpu:0", "loc": 0}])
ledger = os.open(ledger_path, os.O_RDWR | os.O_CREAT, 0o600)
for step in range(1, int(steps) + 1):
    writer.counts[1] = step
    writer.append(["e", "op", time.monotonic_ns() - begun, 1000, 1, 1, None, None, 1])
    os.write(1, b"step %d\n" % step)
    os.pwrite(ledger, b"%d" % step, 0)
    if step % 20 == 0:
        time.sleep(0.001)
        if not hold.exists():
            break
writer.append(["I", 0, {"ended": True}])
writer.close()
if "children" in sys.argv:
    os.killpg(0, signal.SIGTERM)
