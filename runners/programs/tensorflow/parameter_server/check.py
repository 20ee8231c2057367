"""The check of the claim of tf-parameter-server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from runners.amounts import plural
from runners.programs.evidence import Row, Shown, hops, join, judged, ops, size
from runners.programs.verdicts import UNTESTABLE, Verdict

COUNTER_BYTES = 8
"""The step's counter, which is read and counted on beside the weights, and is no weight."""


def check(shown: Mapping[str, Shown]) -> list[Verdict]:
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
    workers = join(sorted({str(row["dst"]).rpartition("/")[0] for row in pulled})) or "no worker"
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
    where = join(f"{process} with {count}" for process, count in sorted(computing.items()))
    spread = (
        f"variables are spread over {plural(len(homes), 'server')}, and the matrix products of a step "
        f"are on {where or 'no process'}: each worker computes all of the model"
    )
    alone = bool(computing) and len(set(computing.values())) == 1 and not _on_servers(computing)
    return [
        judged(on_servers, f"variables were made on {join(homes)}"),
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
