"""Copies of arrays that are there already."""

from __future__ import annotations

import pytest

from tests.unit.fixes.fix_cases import mx_fixed


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = x.copyto(mx.gpu(1))  #!\n", "y = x.as_in_context(mx.gpu(1))\n"),
        ("def f(x, ctx): return g(x.copyto(ctx))  #!\n", "def f(x, ctx): return g(x.as_in_context(ctx))\n"),
        (
            "ys = [\n    x.copyto(y.context)  #!\n    for x in xs\n]\n",
            "ys = [\n    x.as_in_context(y.context)\n    for x in xs\n]\n",
        ),
        (
            "place = mx.gpu(1)\ny = x[0].copyto(place)  #!\n",
            "place = mx.gpu(1)\ny = x[0].as_in_context(place)\n",
        ),
        ("x.copyto(y)  #!\n", None),
        ("z = x.copyto(y)  #!\n", None),
        ("y = x.as_in_context(mx.gpu(1))  #!\n", None),
    ],
)
def test_a_copy_to_where_it_is(before: str, after: str | None) -> None:
    assert mx_fixed("redundant-copy", before, same_device="gpu:1", call="copyto") == after


def test_a_copy_made_again_that_is_in_no_loop_is_no_copy_to_where_it_is() -> None:
    before = "def forward(x):\n    return x + table.copyto(x.context)  #!\n"
    assert mx_fixed("redundant-copy", before, copied_before="gpu:1", call="copyto") is None
