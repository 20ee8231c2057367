"""Which card a framework's GPU number is, as far as the environment says."""

from __future__ import annotations

import os
from typing import Any


def visible_cards() -> list[str]:
    """The entries of CUDA_VISIBLE_DEVICES, in order; empty where it is not set."""
    entries = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
    return [entry.strip() for entry in entries if entry.strip()]


def card_facts(ordinal: int, cards: list[str], sliced: bool = False) -> dict[str, Any]:
    """Of the GPU that the process counts as `ordinal`: its CUDA ordinal, and its UUID where one was given.

    With `sliced` it is a part of that card, which then is its parent.
    """
    facts: dict[str, Any] = {"stand_in": sliced, "cuda_ordinal": ordinal}
    if ordinal < len(cards) and cards[ordinal].startswith(("GPU-", "MIG-")):
        facts["parent_uuid" if sliced else "uuid"] = cards[ordinal]
    return facts
