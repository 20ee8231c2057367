"""Nobody named a device, so it ran on the default one, away from its inputs."""

from __future__ import annotations

from app.diagnosis.cause import Cause
from app.diagnosis.causes.default_device import line_advice, words
from app.judgments.severity import WARNING

CAUSE = Cause(
    code="default-device",
    severity=WARNING,
    meaning=(
        "Nobody named a device, so it ran on the default one, away from its inputs. In MXNet: each step"
        " creates an array there only to copy it to a GPU."
    ),
    summary=words.summary,
    because=words.because,
    advice=words.advice,
    line_advice=line_advice.line_advice,
)
