"""At whose line a tensor is told that several ops of a graph take."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from probes.tf.placed_hops import first_taker


def taker(loc: int, forward_loc: int = 0) -> Any:
    return SimpleNamespace(note=SimpleNamespace(loc=loc, forward_loc=forward_loc))


def test_a_transfer_is_told_at_the_forward_op_that_takes_it() -> None:
    """Bug: rows of a table in a loss were told at model.fit, the line of the gradients that take them too."""
    forward, backward, no_line = taker(27), taker(42, forward_loc=27), taker(0)
    assert first_taker([backward, forward]) is forward
    assert first_taker([no_line, backward]) is backward
    assert first_taker([no_line]) is no_line


def test_what_a_tape_puts_by_in_a_loop_is_no_reader_beside_the_op_that_works_with_it() -> None:
    """Bug: what a `tf.range` loop reads was told at `tape.gradient`, whose push-backs take it too."""
    pushed, product = taker(42, forward_loc=25), taker(25)
    for takers in ([pushed, product], [product, pushed], [pushed, pushed, product]):
        assert first_taker(takers) is product
    assert first_taker([pushed]) is pushed
