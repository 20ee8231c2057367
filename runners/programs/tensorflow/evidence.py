"""What several checks of TensorFlow's programs ask of a run."""

from __future__ import annotations

from collections.abc import Mapping

from runners.amounts import plural
from runners.programs.evidence import Row, Shown, join, ops

GRADIENT = "gradient-outside-scope"
HIDDEN = "the recorder saw no op of the backward pass; compiled by XLA they hide"


def gradients(one: Shown) -> list[Row]:
    """The ops of the backward pass."""
    return [row for row in ops(one) if is_gradient(row)]


def is_gradient(row: Row) -> bool:
    """Whether a tape made the op: TensorFlow says so in its name."""
    return "gradient_tape/" in str(row["name"])


def even(one: Shown, counts: Mapping[str, int]) -> bool:
    """Whether all of the run's devices, and no others, have equally many ops."""
    return set(counts) == set(one.devices) and len(set(counts.values())) == 1


def counted(homes: Mapping[str, int]) -> str:
    """`cpu:1 with 31 ops and cpu:2 with 31 ops`."""
    return join(f"{name} with {plural(count, 'op')}" for name, count in homes.items())
