"""A variable is read away from where it lives."""

from __future__ import annotations

from app.diagnosis.cause import Cause
from app.diagnosis.causes.variable_home import words
from app.fixes.scopes.created_variables import of_home
from app.judgments.severity import WARNING

CAUSE = Cause(
    code="variable-home",
    severity=WARNING,
    meaning=(
        "A variable is read away from where it lives. In MXNet: a variable of the host is copied to a GPU"
        " while autograd records."
    ),
    summary=words.summary,
    because=words.because,
    advice=words.advice,
    line_advice=of_home,
)
