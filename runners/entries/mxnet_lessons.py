"""The MXNet programs that each show one thing about contexts, copies or time."""

from __future__ import annotations

from runners.program import Program

PROGRAMS: tuple[Program, ...] = ()
