"""Gradients that are computed away from their forward ops: they go into these ops' scope."""

from __future__ import annotations

from app.fixes.code.device_notation import alone
from app.fixes.scopes.device_scopes import scoped
from app.fixes.scopes.framework_placement import trains_a_model
from app.fixes.situation import Draft, Situation
from app.views.naming import flat


def gradient_scope(situation: Situation) -> Draft | None:
    """The gradients are computed in the scope of their forward ops."""
    device = alone(forward_devices(situation))
    if device is None or trains_a_model(situation):
        return None
    words = f"Computes the gradients on {device}, beside their forward ops; check that all of them ran there."
    return scoped(situation, device, words)


def forward_devices(situation: Situation) -> set[str]:
    """The devices that the line's gradients belong to, those too of the gradients that are there already."""
    names = ("forward_requested", "producer_forward_requested", "gradients_of")
    return {str(device) for name in names for device in flat(situation.evidence(name))}
