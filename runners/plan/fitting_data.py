"""What of a program's options cannot work with the data that there is."""

from __future__ import annotations

from collections.abc import Mapping

from runners.program import Value
from runners.programs.helpers.shared import digit_files


def data_problems(options: Mapping[str, Value | None]) -> list[str]:
    """Return why the data is not here, in a line; [] where it is."""
    data = options.get("data")
    missing = digit_files.why_not(data) if isinstance(data, str) else None
    return [missing.replace("--data ", "data=")] if missing else []
