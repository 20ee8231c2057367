"""A part of the hostile inputs (`python3 -m tests.hostile` tries 100,000), the same at each run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile.campaign import ENTRANCES, campaign, shares, table

INPUTS = {
    "traces": 15,
    "output": 40,
    "folders": 10,
    "state": 80,
    "commands": 80,
    "addresses": 150,
    "sockets": 20,
    "pages": 8,
}
SEED = 1


@pytest.mark.parametrize("name", ENTRANCES)
def test_no_input_does_harm(name: str, tmp_path: Path) -> None:
    outcome = campaign(name, SEED, range(INPUTS[name]), tmp_path / "failures")
    assert outcome.failures == 0, "\n\n".join(
        f"{kind}: input {number} of seed {SEED}\n{words}" for kind, (number, words) in outcome.first.items()
    )


def test_every_entrance_has_its_share() -> None:
    parts = shares(100_000, ENTRANCES)
    assert set(parts) == set(ENTRANCES) == set(INPUTS)
    assert sum(parts.values()) == 100_000


def test_a_harm_is_found_and_written_down(tmp_path: Path) -> None:
    outcome = campaign("harmful", SEED, range(4), tmp_path / "failures")
    kinds = set(outcome.kinds)
    assert outcome.failures == 4
    assert {kind.split(" ")[0] for kind in kinds} == {"opened", "ValueError", "OverLimit", "the"}
    written = {path.name for path in (tmp_path / "failures").iterdir()}
    assert written == {f"harmful-{SEED}-{number}.txt" for number in range(4)}
    assert "FAILED" in table([outcome])
