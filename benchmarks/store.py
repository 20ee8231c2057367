"""How small and how fast a recorded run is: python benchmarks/store.py [EVENTS]

Writes a made-up run of EVENTS events (default 2,000,000) with the recorders' own writer, seals it, and
times what the pages ask of it, each the median of several tries. The run: 8 devices, a graph of 4,000
ops called once a step, eager ops, eager transfers and syncs from 600 lines.
"""

from __future__ import annotations

import argparse
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from app.diagnosis.judge import hop_table
from app.diagram.grouping import placement_diagram
from app.facts.tables import tables_of
from app.facts.transfers.device_matrix import device_matrix
from app.store.run import RunStore, open_run
from probes.trace.writer import TraceWriter

DEVICES = ["cpu:0", *(f"cpu:{number}" for number in range(1, 9))]
Result = TypeVar("Result")
OPS = ("MatMul", "AddV2", "Relu", "Mul", "Sum", "Cast", "Softmax", "Transpose")
CALL = (1, "call", 400_000, 900_000)
"""(key, kind, shortest, longest), nanoseconds."""
NODES = 4000
LINES = 600


def main() -> None:
    """Make the run, measure, print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("events", nargs="?", type=int, default=2_000_000)
    parser.add_argument(
        "--memory-of", type=Path, metavar="RUN", help="only: memory of a process that opens it"
    )
    args = parser.parse_args()
    if args.memory_of:
        print(f"{memory_to_open(args.memory_of):.0f}")
        return
    folder = Path(tempfile.mkdtemp(prefix="hopscope-benchmark-"))
    try:
        measure(folder, args.events)
    finally:
        shutil.rmtree(folder)


def measure(folder: Path, events: int) -> None:
    """Print one line a figure."""
    seconds, _ = timed(lambda: write_run(folder, events))
    trace = sum(path.stat().st_size for path in (folder / "trace").iterdir())
    row("events", f"{events:,}")
    row("trace written (with making the events up)", f"{seconds:.1f} s, {trace / events:.1f} bytes an event")
    seconds, store = timed(lambda: open_run(folder))
    row("open, not sealed", f"{seconds:.2f} s, {events / seconds / 1000:,.0f} k events a second")
    questions(store, "not sealed")
    seconds, sealed = timed(store.seal)
    if not sealed:
        raise SystemExit("the run could not be sealed")
    size = sum(path.stat().st_size for path in (folder / "tables").iterdir())
    row("seal", f"{seconds:.2f} s, {size / events:.2f} bytes an event")
    store.close()
    row("open, sealed", milliseconds(lambda: open_run(folder).close()))
    row("open to the first diagram, sealed", milliseconds(lambda: first_diagram(folder)))
    store = open_run(folder)
    questions(store, "sealed")
    row("memory of this process, which read and sealed it, peak", f"{peak_mb():.0f} MB")
    command = [sys.executable, __file__, "--memory-of", str(folder)]
    opened = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    row("memory of a process that opens it sealed, peak", f"{opened} MB")


def first_diagram(folder: Path) -> None:
    """What must be done before a page can draw the placement."""
    store = open_run(folder)
    tables = tables_of(store)
    placement_diagram(tables, hop_table(tables))
    store.close()


def memory_to_open(folder: Path) -> float:
    """Peak memory of this process, MB, after a viewer's questions to a sealed run."""
    store = open_run(folder)
    tables = tables_of(store)
    placement_diagram(tables, hop_table(tables))
    store.binned(600)
    store.binned(600, store.duration_s * 0.25, store.duration_s * 0.75)
    store.window(store.duration_s * 0.5, store.duration_s * 0.51)
    return peak_mb()


def peak_mb() -> float:
    """Most memory that this process ever had, MB."""
    # Not getrusage: what it says outlives an exec, so that a child starts with its parent's peak.
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:"))


def questions(store: RunStore, how: str) -> None:
    """Time what a page asks."""
    span = store.duration_s
    share = span * 5000 / store.events
    starts = iter(random.Random(1).uniform(0, span - share) for _ in range(1000))
    row(f"hop table and matrix, {how}", milliseconds(lambda: device_matrix(hop_table(tables_of(store)))))
    row(f"overview of 600 bins, first time, {how}", f"{1000 * timed(lambda: store.binned(600))[0]:.1f} ms")
    row(
        f"a tenth of the run in 600 bins, {how}",
        milliseconds(lambda: store.binned(600, span * 0.4, span * 0.5)),
    )

    def window() -> None:
        start = next(starts)
        store.window(start, start + share, 2000)

    row(f"window of 5,000 events, {how}", milliseconds(window))
    row(f"nodes of the graph, first time, {how}", f"{1000 * timed(lambda: store.nodes(1))[0]:.1f} ms")


def write_run(folder: Path, events: int) -> None:
    """One process's trace with `events` events, through the recorders' writer."""
    mono = time.monotonic_ns()
    header = {"run": "benchmark", "host": "benchmark", "pid": 0, "ppid": 0, "process": "main", "role": None}
    header |= {"rank": None, "framework": "tensorflow", "wall_ns": time.time_ns(), "mono_ns": mono}
    (folder / "trace").mkdir()
    writer = TraceWriter(str(folder / "trace"), ["1-1"], header)
    chance = random.Random(0)
    kinds = define(writer, chance)
    now = 0
    lines = []
    for number in range(events):
        now += chance.randrange(300, 20_000)
        key, kind, low, high = CALL if number % 50 == 0 else chance.choice(kinds)
        step = number // 50
        lines.append(f'["e","{kind}",{now},{chance.randrange(low, high)},{key},1,{step},null,139872345]\n')
        writer.counts[key] += 1
        if len(lines) == 1000:
            writer.append_bytes("".join(lines).encode())
            lines.clear()
    writer.append_bytes("".join(lines).encode())
    writer.append(["I", now, {"ended": True, "devices": DEVICES}])
    writer.close()


def define(writer: TraceWriter, chance: random.Random) -> list[tuple[int, str, int, int]]:
    """Strings, lines, a placed graph with its hops, and the keys of eager events."""
    strings: dict[str, int] = {"": 0}

    def string(text: str) -> int:
        if text not in strings:
            strings[text] = len(strings)
            writer.append(["S", strings[text], text])
        return strings[text]

    for line in range(1, LINES + 1):
        site, file, function = (string(text) for text in (f"train.py:{line}", "/src/train.py", "train"))
        writer.append(["L", line, site, 0, file, line, function])
    writer.append(["G", 1, {"name": "step", "function": "__inference_step_1", "loc": 1, "step_marks": 1}])
    writer.append(["K", 1, "call", {"graph": 1, "function": "__inference_step_1", "loc": 1}])
    for node in range(NODES):
        name = f"model/layer_{node * 24 // NODES}/{OPS[node % len(OPS)]}_{node}"
        device = DEVICES[1 + node * 8 // NODES]
        texts = [string(text) for text in (name, OPS[node % len(OPS)], device, device)]
        writer.append(["N", 1, node, *texts, 1 + node % LINES, 0])
        if node:
            writer.append(["E", 1, node - 1, 0, node, 0, 65536, string("float32"), string("64x256")])
    kinds: list[tuple[int, str, int, int]] = []
    for key in range(2, 2 + LINES * 4):
        src, dst = chance.sample(DEVICES, 2)
        kind = ("op", "op", "op", "hop", "sync", "op")[key % 6]
        fields: dict[str, object] = {"op": chance.choice(OPS), "loc": 1 + key % LINES, "requested": ""}
        if kind == "hop":
            fields |= {"src": src, "dst": dst, "src_memory": "device", "dst_memory": "device", "graph": 0}
            fields |= {"tensor": f"t{key}:0", "bytes": 65536, "dtype": "float32", "shape": "64x256"}
            fields |= {"kind": "copy", "basis": "measured", "consumers": [f"op{key}"], "producer": "x"}
        elif kind == "sync":
            fields = {"device": src, "kind": "numpy", "loc": 1 + key % LINES, "basis": "measured"}
        else:
            fields["device"] = src
        writer.append(["K", key, kind, fields])
        kinds.append((key, kind, 800, 60_000))
    return kinds


def timed(work: Callable[[], Result]) -> tuple[float, Result]:
    """Seconds and result of one try."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def milliseconds(work: Callable[[], object], tries: int = 9) -> str:
    """Median of some tries."""
    return f"{1000 * statistics.median(timed(work)[0] for _ in range(tries)):.1f} ms"


def row(what: str, value: str) -> None:
    """One line of the table."""
    print(f"| {what:55} | {value:>44} |", flush=True)


if __name__ == "__main__":
    main()
