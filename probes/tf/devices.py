"""Tells which devices the process has and what they are, once TensorFlow has made them."""

from __future__ import annotations

from typing import Any

from ..trace.cards import card_facts, visible_cards
from ..trace.hop import is_host
from ..trace.recording import Recording
from .names import short_device


def install(recording: Recording) -> None:
    """Turn placement collection on and note the devices when the eager context comes up, not before."""
    from tensorflow.python import pywrap_tfe
    from tensorflow.python.eager import context

    ensure = context.Context.ensure_initialized

    def ensure_initialized(self: Any) -> None:
        if self._initialized:
            return
        ensure(self)
        if self._context_handle is not None and self is context.context():
            pywrap_tfe.TFE_ContextEnableRunMetadata(self._context_handle)
            recording.fact(_facts(self))

    context.Context.ensure_initialized = ensure_initialized


def _facts(ctx: Any) -> dict[str, Any]:
    names = [short_device(device.name) for device in ctx._logical_devices or []]
    facts: dict[str, Any] = {"devices": names, "device_map": _device_map(ctx, names)}
    server = getattr(ctx, "_server_def", None)
    if server is not None:
        facts["role"], facts["rank"] = server.job_name, server.task_index
    return facts


def _device_map(ctx: Any, names: list[str]) -> dict[str, dict[str, Any]]:
    """For each device: whether it is a stand-in, and for a GPU which card (ordinal, UUID as launched)."""
    visible = visible_cards()
    gpus = [name for name in names if "gpu:" in name]
    cards = list(ctx.list_physical_devices("GPU"))
    sliced = len(gpus) > len(cards)
    result: dict[str, dict[str, Any]] = {}
    for name in names:
        if is_host(name):
            result[name] = {"stand_in": False}
        elif "gpu:" in name:
            ordinal = int(name.rsplit(":", 1)[1])
            card = 0 if sliced else ordinal
            entry = card_facts(card, visible, sliced)
            if card < len(cards):
                details = ctx.get_device_details(cards[card])
                entry["name"] = details.get("device_name")
            result[name] = entry
        else:
            result[name] = {"stand_in": True}
    return result
