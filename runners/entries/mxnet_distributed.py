"""The MXNet programs that train in several processes."""

from __future__ import annotations

from runners.program import Program

PROGRAMS: tuple[Program, ...] = ()
