"""What pip's output is taken to mean."""

from __future__ import annotations

import pytest

from runners.environments.pip_output import PipOutput

COUNTED = """\
Collecting left<2,>=1 (from -r requirements.txt (line 1))
  Downloading left-1.0-py3-none-any.whl.metadata (5.2 kB)
Collecting right (from left)
  Downloading right-2.0-py3-none-any.whl.metadata (1 kB)
Requirement already satisfied: pip in ./lib
Using cached left-1.0-py3-none-any.whl (16 kB)
Downloading right-2.0-py3-none-any.whl (274.3 MB)
Installing collected packages: right, left
"""


def fed(text: str) -> PipOutput:
    output = PipOutput()
    for line in text.splitlines():
        output.feed(line + "\n")
    return output


def test_progress_counts_files_and_installs() -> None:
    output = PipOutput()
    fractions = []
    for line in COUNTED.splitlines():
        output.feed(
            line
            if line.startswith("Coll")
            else f"  {line.strip()}"
            if "load" in line or "Using" in line
            else line
        )
        fractions.append(output.fraction(0, 137_150_000))
    assert fractions == [None, None, None, None, None, 0.25, 0.375, 0.5]
    assert output.total == 2
    assert output.fraction(1, None) == 0.75
    assert output.fraction(2, None) == 1.0


def test_file_on_its_way_is_known_with_its_size() -> None:
    output = fed("Collecting right\n  Downloading right-2.0-py3-none-any.whl (274.3 MB)")
    assert output.step == "downloading right 2.0, 274.3 MB"
    assert output.download is not None
    assert (output.download.name, output.download.size) == ("right-2.0-py3-none-any.whl", 274_300_000)


def test_nothing_is_claimed_where_pip_fetches_while_it_collects() -> None:
    output = fed("Collecting left\n  Downloading left-1.0-py3-none-any.whl (16 kB)\nCollecting right")
    assert output.fraction(0, 16_000) is None
    output.feed("Installing collected packages: right, left")
    assert output.fraction(0, None) == 0.5


REFUSED = (
    "WARNING: Retrying (Retry(total={}, connect=None)) after connection broken by 'NewConnectionError('<x>:"
    " Failed to establish a new connection: [Errno 111] Connection refused')': /simple/left/"
)
NO_MATCH = """\
ERROR: Could not find a version that satisfies the requirement left>=1 (from versions: {})
ERROR: No matching distribution found for left>=1
"""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"{REFUSED.format(4)}\n{REFUSED.format(0)}\n{NO_MATCH.format('none')}", "no network"),
        (NO_MATCH.format("none"), "has no left>=1, or does not answer"),
        (NO_MATCH.format("0.1, 0.2"), "has no build of left>=1 for this Python"),
        (f"{REFUSED.format(4)}\nCollecting right\n{NO_MATCH.format('0.1')}", "has no build of left>=1"),
        (
            "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
            "no space",
        ),
        (
            "ERROR: Could not install packages due to an OSError: [Errno 13] Permission denied: '/opt/x'",
            "no permission to write /opt/x",
        ),
        ("ERROR: first\nERROR: Failed building wheel for left", "Failed building wheel for left"),
    ],
)
def test_failure_is_told_in_part_of_a_line(text: str, reason: str) -> None:
    told = fed(text).failure()
    assert told is not None and reason in told and "\n" not in told


def test_silence_is_no_reason() -> None:
    assert fed("Collecting left").failure() is None


def test_retries_are_shown() -> None:
    assert fed(REFUSED.format(3)).step == "the package index does not answer; 3 more tries"
