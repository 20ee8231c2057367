"""How cards are connected: the nearest bridge, NVLinks, and who may reach whose memory."""

from __future__ import annotations

from typing import Any

from . import words
from .calls import CardGone, Nvml
from .links import shared_links
from .missing import is_missing, missing

_READ, _WRITE, _NVLINK, _ATOMICS = 0, 1, 2, 3
_ACCESS = (("read", _READ), ("write", _WRITE), ("nvlink", _NVLINK), ("atomics", _ATOMICS))
_SELF = {"level": "self", "short": "X", "nvlinks": 0}


def read_topology(nvml: Nvml, handles: list[Any], cards: list[dict[str, Any]]) -> list[list[Any]]:
    """Return for each pair of cards {level, short, nvlinks}, in their order; a lost card's cells say why.

    `handles` has what stands in the place of a card's handle where it has none.
    """
    return [
        [
            _SELF if row == column else _connection(nvml, handles, cards, row, column)
            for column in range(len(handles))
        ]
        for row in range(len(handles))
    ]


def read_p2p(nvml: Nvml, handles: list[Any]) -> list[list[Any]]:
    """Return for each pair {read, write, nvlink, atomics}: 'ok', or why not."""
    return [
        [
            _access(nvml, handles[row], handles[column])
            if row != column
            else {name: "ok" for name, _ in _ACCESS}
            for column in range(len(handles))
        ]
        for row in range(len(handles))
    ]


def _connection(
    nvml: Nvml, handles: list[Any], cards: list[dict[str, Any]], row: int, column: int
) -> dict[str, Any]:
    for handle in (handles[row], handles[column]):
        if is_missing(handle):
            return dict(handle)
    try:
        level = nvml.ask("nvmlDeviceGetTopologyCommonAncestor", handles[row], handles[column])
    except CardGone as gone:
        return missing(gone.code)
    if is_missing(level):
        return dict(level)
    told, short = words.topology_level(int(level))
    links = shared_links(
        cards[row].get("nvlink"),
        cards[column].get("nvlink"),
        cards[column].get("pci_bus_id"),
        cards[row].get("pci_bus_id"),
    )
    return {"level": told, "short": f"NV{links}" if links else short, "nvlinks": links}


def _access(nvml: Nvml, first: Any, second: Any) -> dict[str, Any]:
    for handle in (first, second):
        if is_missing(handle):
            return dict(handle)
    found: dict[str, Any] = {}
    for name, index in _ACCESS:
        try:
            status = nvml.ask("nvmlDeviceGetP2PStatus", first, second, index)
        except CardGone as gone:
            return missing(gone.code)
        found[name] = status if is_missing(status) else words.p2p_status(status)
    return found
