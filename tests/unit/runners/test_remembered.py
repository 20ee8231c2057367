"""Answers that are given again for a while."""

from __future__ import annotations

import pytest

from runners.remembered import remembered


def test_an_answer_is_given_again_until_it_is_old(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    asked: list[str] = []

    @remembered(5.0)
    def answer(name: str) -> str | None:
        """It says nothing of b."""
        asked.append(name)
        return None if name == "b" else name

    assert [answer("a"), answer("b"), answer("a"), answer("b")] == ["a", None, "a", None]
    assert asked == ["a", "b"]
    now = 106.0
    assert answer("a") == "a" and asked == ["a", "b", "a"]
    answer.cache_clear()
    assert answer("a") == "a" and len(asked) == 4
    assert answer.__doc__ == "It says nothing of b."
