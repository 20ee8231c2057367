"""Lessons: what each catalogued program claims about placement, and what came of it on this machine."""

from __future__ import annotations

from app.web.lessons.lessons_panel import lessons_panel

lessons_panel()
