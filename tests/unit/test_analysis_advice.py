"""What to do about a cause depends on what happened, not on its code alone."""

from __future__ import annotations

from typing import Any

import pytest

from app.analysis import advice


@pytest.mark.parametrize(
    ("evidence", "begins"),
    [
        ({"taken_by": "numpy"}, "Take the value every so many steps"),
        ({"kind": "waitall", "takes": False}, "Drop the wait"),
        ({"kind": "save", "takes": False}, "Save every so many steps"),
        ({"taken_by": "numpy_function"}, "Write the function with TensorFlow's ops"),
        ({"taken_by": "numpy", "made_by": ["EagerPyFunc at t.py:3"]}, "Write the function with TensorFlow's"),
        ({"taken_by": "asnumpy", "made_by": ["Custom at t.py:3"]}, "Write the operator with MXNet's own ops"),
    ],
)
def test_a_wait_that_the_code_needs_in_each_step_has_a_fix_of_its_own(
    evidence: dict[str, Any], begins: str
) -> None:
    assert (advice.fix("host-sync", evidence) or "").startswith(begins)
