"""The MXNet programs that train a network."""

from __future__ import annotations

from runners.program import Program

PROGRAMS: tuple[Program, ...] = ()
