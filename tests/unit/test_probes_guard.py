"""An error of the recorder's own is counted and ends there; what ends the program passes."""

from __future__ import annotations

import pytest

from probes.trace.guard import DEBUG, FAILED, Guard


def test_an_error_is_counted_with_its_reason_and_goes_no_further() -> None:
    told: list[tuple[str, str]] = []
    with Guard(lambda what, why: told.append((what, why)), "eager ops"):
        raise KeyError("x")
    assert told == [("eager ops", f"{FAILED}: KeyError: 'x'")]


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit])
def test_what_ends_the_program_passes(end: type[BaseException]) -> None:
    told: list[tuple[str, str]] = []
    with pytest.raises(end), Guard(lambda what, why: told.append((what, why)), "eager ops"):
        raise end
    assert told == []


def test_who_asks_sees_where_it_happened(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(DEBUG, "1")
    with Guard(lambda _what, _why: None, "eager ops"):
        raise ValueError("here")
    assert "test_probes_guard.py" in capsys.readouterr().err
