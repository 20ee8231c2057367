"""Tells which devices the process has and what they are, once TensorFlow has made them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from ..trace.cards import card_facts, cuda_environment
from ..trace.frames import PASSING, stands_for
from ..trace.hop import is_host
from ..trace.recording import Recording
from ..trace.schema import DeviceFacts, LaterFacts
from .names import short_device


def install(recording: Recording) -> None:
    """Turn placement collection on and note the devices when the eager context comes up, not before."""
    from tensorflow.python import pywrap_tfe
    from tensorflow.python.eager import context

    ensure = context.Context.ensure_initialized
    guard = recording.guard("the devices")

    @stands_for(ensure)
    def ensure_initialized(self: Any) -> None:
        if self._initialized:
            return
        with PASSING:
            ensure(self)
        with guard:
            if self._context_handle is not None and self is context.context():
                began(self)

    def began(ctx: Any) -> None:
        pywrap_tfe.TFE_ContextEnableRunMetadata(ctx._context_handle)
        recording.fact(facts_of(ctx))

    context.Context.ensure_initialized = ensure_initialized
    # A recorder that comes late finds it there.
    here = context.context_safe()
    if here is not None and here._initialized and here._context_handle is not None:
        began(here)


def facts_of(ctx: Any) -> LaterFacts:
    """The devices of an initialised context of eager execution, and what they are."""
    names = [short_device(device.name) for device in ctx._logical_devices or []]
    facts: LaterFacts = {
        "devices": names,
        "device_map": _device_map(ctx, names),
        "devices_complete": True,
        "cuda_environment": cuda_environment(),
    }
    server = getattr(ctx, "_server_def", None)
    if server is not None:
        facts["role"], facts["rank"] = server.job_name, server.task_index
    return facts


def _device_map(ctx: Any, names: Sequence[str]) -> dict[str, DeviceFacts]:
    """For each device: whether it is a stand-in, and for a GPU which card it is or is cut from."""
    own = _own_gpus(ctx, names)
    cards = cards_of(ctx)
    result: dict[str, DeviceFacts] = {}
    for name in names:
        if is_host(name):
            result[name] = {"stand_in": False}
        elif "gpu:" not in name:
            result[name] = {"stand_in": True}
        elif name not in own or len(own) != len(cards):
            # Another process's, or not as many as were configured: then none can be told apart.
            result[name] = card_facts(None)
        else:
            card = cards[own.index(name)]
            result[name] = card_facts(cuda_ordinal(card.name), sliced=cards.count(card) > 1)
            result[name]["name"] = ctx.get_device_details(card).get("device_name")
    return result


def _own_gpus(ctx: Any, names: Sequence[str]) -> list[str]:
    """The GPUs of this process, by number: a cluster's context lists the others' too."""
    server = getattr(ctx, "_server_def", None)
    prefix = f"{server.job_name}:{server.task_index}/" if server is not None else ""
    own = [name for name in names if name.startswith(f"{prefix}gpu:")]
    return sorted(own, key=lambda name: int(name.rsplit(":", 1)[1]))


def cards_of(ctx: Any) -> list[Any]:
    """The physical device behind each logical GPU, by the logical one's number.

    TensorFlow numbers the visible ones anew, in the order of the physical ones; a card that is cut into
    several has as many numbers. `experimental_device_ordinal` goes before that order.
    """
    visible = ctx.get_visible_devices("GPU")
    made: list[tuple[int, Any]] = []
    for card in ctx.list_physical_devices("GPU"):
        if card not in visible:
            continue
        for part in ctx.get_logical_device_configuration(card) or [None]:
            made.append((getattr(part, "experimental_device_ordinal", None) or 0, card))
    made.sort(key=lambda one: one[0])
    return [card for _, card in made]


def cuda_ordinal(physical: str) -> Optional[int]:
    """CUDA's number of TensorFlow's ``/physical_device:GPU:2``: TensorFlow skips weak cards, not numbers."""
    number = physical.rpartition(":")[2]
    return int(number) if number.isdecimal() else None
