"""Gradients that are computed away from their forward ops: they go into these ops' scope."""

from __future__ import annotations

from app.diagnosis.causes.gradient_outside_scope.evidence import Evidence
from app.fixes.code.device_notation import alone
from app.fixes.scopes.device_scopes import scoped
from app.fixes.scopes.framework_placement import trains_a_model
from app.fixes.situation import Draft, Situation


def gradient_scope(situation: Situation) -> Draft | None:
    """The gradients are computed in the scope of their forward ops."""
    device = alone(situation.evidence(Evidence).gradient_devices)
    if device is None or trains_a_model(situation):
        return None
    words = f"Computes the gradients on {device}, beside their forward ops; check that all of them ran there."
    return scoped(situation, device, words)
