"""Would it work here? One line a framework, and what each line rests on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from app.components.table.table import Column, Look, table
from runners.environments.fitness import Fit, Part, fitness

COLUMNS = (
    Column("framework", "Framework", "label"),
    Column("status", "Would it work here?", "badge"),
    Column("text", "", "text"),
)
PART_COLUMNS = (
    Column("framework", "Framework", "label"),
    Column("what", "What", "label"),
    Column("status", "", "badge"),
    Column("text", "", "text"),
)
_WORDS = {"works": "works", "cpu": "on the CPU", "warning": "with a warning", "no": "no"}
_TONES = {"works": "good", "cpu": "quiet", "warning": "odd", "no": "alert"}


def fitness_section(snapshot: dict[str, Any]) -> None:
    """Draws what can be said of each framework on the machine of this snapshot."""
    found = fitness(snapshot)
    table(COLUMNS, fit_rows(found), "fitness", label="Whether each framework would work here")
    with st.expander("What this rests on"):
        table(
            PART_COLUMNS,
            part_rows(found),
            "fitness-parts",
            label="What each framework needs",
            look=Look(searchable=99),
        )


def fit_rows(found: Sequence[Fit]) -> list[dict[str, Any]]:
    """One row a framework."""
    return [
        {"id": fit.framework, "cells": {"framework": {"text": fit.title}, **_judged(fit.status, fit.text)}}
        for fit in found
    ]


def part_rows(found: Sequence[Fit]) -> list[dict[str, Any]]:
    """One row a thing that a framework needs."""
    return [
        {"id": f"{fit.framework}-{part.what}", "cells": _part(fit, part)}
        for fit in found
        for part in fit.parts
    ]


def _part(fit: Fit, part: Part) -> dict[str, Any]:
    return {"framework": {"text": fit.title}, "what": {"text": part.what}, **_judged(part.status, part.text)}


def _judged(status: str, text: str) -> dict[str, Any]:
    return {"status": {"text": _WORDS[status], "tone": _TONES[status]}, "text": {"text": text}}
