"""Every lesson: one a program of the catalogue."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from app.lessons.lesson import Lesson
from runners.catalogue import PROGRAMS
from runners.errors import UsageError

LESSONS: dict[str, Lesson] = {
    name: Lesson(name, program.variants, program.advice) for name, program in PROGRAMS.items()
}
"""By program, in the order in which they are shown."""


def chosen(programs: Iterable[str] = ()) -> list[Lesson]:
    """Return the lessons of these programs, each once; all where none is named. UsageError for others."""
    names = list(dict.fromkeys(programs))
    for name in names:
        if name not in LESSONS:
            alike = difflib.get_close_matches(name.lower(), LESSONS, n=1)
            hint = f"did you mean {alike[0]}?" if alike else "python3 -m app lessons lists them"
            raise UsageError(f"there is no lesson {name!r}; {hint}")
    return [LESSONS[name] for name in names] if names else list(LESSONS.values())
