"""How a forward op is named beside the gradient that it has."""

from __future__ import annotations

import pytest

from probes.tf.gradients import forward_words


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("dense/MatMul", "MatMul (dense/MatMul)"),
        ("MatMul_1", "MatMul (MatMul_1)"),
        ("MatMul", "MatMul"),
        ("MatMul/MatMul", "MatMul"),
        ("", "MatMul"),
    ],
)
def test_a_name_that_only_repeats_the_type_is_left_out(name: str, told: str) -> None:
    assert forward_words("MatMul", name) == told
