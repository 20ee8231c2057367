"""Which build of a framework suits this machine, and which of its cards that can use."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

from runners.environments.frameworks import DRIVER_LIBRARY, Framework
from runners.machine import gpus
from runners.machine.gpus import Gpu
from runners.remembered import remembered

_DRIVER_KNOWN_FOR_S = 30.0


def choose_build(framework: Framework) -> tuple[str, str]:
    """The build that suits this machine, `cpu` or `gpu`, and why: what NVML reports decides."""
    found = gpus.list_gpus()
    if not found.cards:
        return "cpu", f"no GPU: {found.problem or 'NVML reports none'}"
    usable = usable_cards(framework, found.cards)
    if not usable:
        return "cpu", "; ".join(refusals(framework, found.cards))
    if problem := driver_problem(framework):
        return "cpu", problem
    return "gpu", f"NVML reports {len(usable)} GPU{'s' if len(usable) > 1 else ''} for it"


def usable_cards(framework: Framework, cards: Sequence[Gpu]) -> list[Gpu]:
    """The cards for which the framework's build holds code, or may do."""
    limit = framework.capability
    return [card for card in cards if not (limit and limit.refused and _beyond(framework, card))]


def refusals(framework: Framework, cards: Sequence[Gpu]) -> list[str]:
    """Why nothing of the framework's build can run on some of these cards, one line a card."""
    usable = usable_cards(framework, cards)
    return [_words(framework, card) for card in cards if card not in usable]


def warnings(framework: Framework, cards: Sequence[Gpu]) -> list[str]:
    """Which of these cards are newer than the framework's build, and what then happens; one line a card."""
    return [_words(framework, card) for card in cards if _beyond(framework, card)]


def driver_problem(framework: Framework) -> str | None:
    """Why the framework's build for GPUs is of no use without a driver, where this machine has none."""
    if not framework.needs_driver or driver_found():
        return None
    return (
        f"{framework.title}'s build for GPUs cannot even be imported without the NVIDIA driver's"
        f" {DRIVER_LIBRARY}, which this machine lacks"
    )


def _beyond(framework: Framework, card: Gpu) -> bool:
    limit = framework.capability
    return (
        limit is not None and card.compute_capability is not None and card.compute_capability >= limit.first
    )


def _words(framework: Framework, card: Gpu) -> str:
    assert framework.capability and card.compute_capability
    capability = ".".join(map(str, card.compute_capability))
    return f"{card.device} ({card.name}) has compute capability {capability}, and {framework.capability.why}"


@remembered(_DRIVER_KNOWN_FOR_S)
def driver_found() -> bool:
    """Whether the loader finds the driver's library, asked in a process that does not keep it loaded."""
    ask = [sys.executable, "-I", "-c", f"import ctypes; ctypes.CDLL({DRIVER_LIBRARY!r})"]
    done = subprocess.run(ask, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return done.returncode == 0
