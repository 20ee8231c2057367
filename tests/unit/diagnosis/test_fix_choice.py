"""Whether a finding gets a fix."""

from __future__ import annotations

import pytest

from tests.unit.fixes.fix_cases import fixed, hop

TF = "import tensorflow as tf\n"


@pytest.mark.parametrize("code", ["unbalanced", "host-memory", "explicit", "collective", "unknown"])
def test_codes_without_a_fix(code: str) -> None:
    assert fixed(code, f"{TF}for x in data:\n    y = x + 1  #!\n", hops=(hop(code),)) is None
