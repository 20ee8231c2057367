"""Every lesson: which runs each program's claim needs, as few and as short as it allows."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from app.lessons import mxnet, tensorflow
from app.lessons.lesson import Lesson, Variant
from runners.errors import UsageError

__all__ = ["LESSONS", "Lesson", "Variant", "chosen"]

LESSONS: dict[str, Lesson] = {lesson.program: lesson for lesson in (*tensorflow.LESSONS, *mxnet.LESSONS)}
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
