"""What several checks of MXNet's programs ask of a run."""

from __future__ import annotations

from collections.abc import Iterable

from runners.programs.evidence import Row, join

HOST = "cpu:0"


def is_as_asked(rows: Iterable[Row]) -> bool:
    """Whether each op ran on the context that was asked for, on the host where none was."""
    return all(row["assigned"] == (row["requested"] or HOST) for row in rows)


def lines(rows: Iterable[Row]) -> str:
    """`on cpu:0 at lines 83 and 85, on cpu:2 at line 84`."""
    found: dict[str, set[int]] = {}
    for row in rows:
        number = str(row.get("site")).rpartition(":")[2]
        found.setdefault(str(row["assigned"]), set()).update({int(number)} if number.isdecimal() else ())
    return ", ".join(
        f"on {device} at line{'s' if len(numbers) > 1 else ''} {join(sorted(numbers))}"
        for device, numbers in sorted(found.items())
        if numbers
    )


def is_training(kind: str) -> bool:
    """Whether an op of this type is of a backward pass, or updates weights."""
    return kind.endswith(("(backward)", "_update")) or kind.startswith("_backward_")


def via(row: Row, function: str) -> bool:
    """Whether a function of MXNet's made the copy."""
    return str(row.get("via")).endswith(f":{function}")
