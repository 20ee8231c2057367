"""Checks of the TensorFlow programs of several processes: what they say, beside what crossed between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from app.analysis.claims.recorded import Row, hops, judged, ops, size, told
from app.analysis.claims.shown import Shown
from app.views import units
from runners.programs.verdicts import UNTESTABLE, Verdict

COUNTER_BYTES = 8
"""The step's counter, which is read and counted on beside the weights, and is no weight."""
_RESUMED, _NOT_RESUMED = "resumed at step", "nothing was resumed"


def multiworker(shown: Mapping[str, Shown]) -> list[Verdict]:
    """Equal weights, as the program compares them; and bytes that grow with the number of workers."""
    found = list(dict.fromkeys(verdict for one in shown.values() for verdict in one.said))
    crossing: dict[int, Row] = {}
    for one in shown.values():
        rows = [row for row in one.report.get("collectives") or () if "Reduce" in str(row.get("op"))]
        # The gradients are the largest tensor that is summed; beside them losses are.
        largest: Row = max(rows, key=lambda row: row.get("payload_bytes") or 0, default={})
        workers = one.options.get("workers")
        if largest.get("payload_bytes") and largest.get("wire_bytes") and isinstance(workers, int):
            crossing[workers] = largest
    if len(crossing) < 2:
        why = f"bytes of {told(crossing) or 'no'} workers were recorded, and it takes two numbers to compare"
        return [*found, Verdict(UNTESTABLE, why)]
    numbers = sorted(crossing)
    wire = [crossing[number]["wire_bytes"] for number in numbers]
    each = ", ".join(
        f"{crossing[number]['wire_bytes']:,} bytes between {units.plural(number, 'worker')}"
        for number in numbers
    )
    payload = told(f"{crossing[number]['payload_bytes']:,}" for number in numbers)
    algorithm = told(crossing[number].get("algorithm") for number in numbers)
    measured = f"to sum {payload} bytes of gradients by {algorithm}, {each} cross in a step (estimated)"
    return [*found, judged(wire == sorted(set(wire)), measured)]


def multiworker_checkpoint(shown: Mapping[str, Shown]) -> list[Verdict]:
    """What the program says; that the first run resumed nothing is no news where another one did."""
    found = list(dict.fromkeys(verdict for one in shown.values() for verdict in one.said))
    if not any(verdict.text.startswith(_RESUMED) for verdict in found):
        return found
    return [verdict for verdict in found if not verdict.text.startswith(_NOT_RESUMED)]


def parameter_server(shown: Mapping[str, Shown]) -> list[Verdict]:
    """Variables are on the servers; every step pulls and pushes all of them, and computes on a worker."""
    return [verdict for one in shown.values() for verdict in [*one.said, *_served(one)]]


def _served(one: Shown) -> list[Verdict]:
    rows, steps = ops(one), one.report.get("steps")
    homes = sorted({str(row["assigned"]) for row in rows if row["type"] == "VarHandleOp"})
    if not homes or not steps:
        return [Verdict(UNTESTABLE, "the recorder saw no variables made, or no steps")]
    on_servers = all(_role(home) == "ps" for home in homes)
    weights = [row for row in hops(one) if (row.get("bytes") or 0) > COUNTER_BYTES]
    pulled = [row for row in _between(weights, "ps", "worker") if row.get("cause") == "variable-home"]
    pushed = list(_between(weights, "worker", "ps"))
    workers = told(sorted({str(row["dst"]).rpartition("/")[0] for row in pulled})) or "no worker"
    # The replicas of a worker pull each for itself, and push the sum of their gradients.
    replicas = len({str(row["dst"]).rpartition("/")[2] for row in pulled})
    by_each = f" by {replicas} replicas" if replicas > 1 else ""
    crossed = (
        f"in a step {size(pulled) // steps:,} bytes of variables were pulled from the servers{by_each}, and "
        f"{size(pushed) // steps:,} bytes of gradients{', summed,' if by_each else ''} pushed to them, in "
        f"{steps} steps on {workers} (estimated)"
    )
    products = Counter(str(row["assigned"]).rpartition("/")[0] for row in rows if row["type"] == "MatMul")
    computing = {process: count for process, count in products.items() if _role(process) in ("worker", "ps")}
    where = told(f"{process} with {count}" for process, count in sorted(computing.items()))
    spread = (
        f"variables are spread over {units.plural(len(homes), 'server')}, and the matrix products of a step "
        f"are on {where or 'no process'}: each worker computes all of the model"
    )
    alone = bool(computing) and len(set(computing.values())) == 1 and not _on_servers(computing)
    return [
        judged(on_servers, f"variables were made on {told(homes)}"),
        judged(bool(pulled) and size(pulled) == replicas * size(pushed), crossed),
        judged(on_servers and alone, spread if alone else spread.partition(": ")[0]),
    ]


def _between(rows: Iterable[Row], src: str, dst: str) -> list[Row]:
    """Those from a process of one role to one of another."""
    return [row for row in rows if (_role(str(row["src"])), _role(str(row["dst"]))) == (src, dst)]


def _role(name: str) -> str:
    """`ps` of ps:0/cpu:0."""
    return name.partition(":")[0]


def _on_servers(processes: Iterable[str]) -> bool:
    return any(_role(process) == "ps" for process in processes)
