"""NVLink: which links of a card are up, at which version, and what is at their other end."""

from __future__ import annotations

from typing import Any

from .calls import Nvml, text_of
from .missing import is_missing

_MOST_LINKS = 36
_SWITCH = 2
"""NVML_NVLINK_DEVICE_TYPE_SWITCH."""


def read_links(nvml: Nvml, handle: Any) -> Any:
    """Return [{link, state, version, remote_pci_bus_id, switch}], or why there is nothing to tell."""
    links: list[dict[str, Any]] = []
    for link in range(nvml.constant("NVML_NVLINK_MAX_LINKS", _MOST_LINKS)):
        state = nvml.ask("nvmlDeviceGetNvLinkState", handle, link)
        if is_missing(state):
            if not links:
                return state
            # Asked for more links than the card has.
            break
        if not state:
            links.append({"link": link, "state": "down", "version": None, "remote_pci_bus_id": None})
            continue
        remote = nvml.ask("nvmlDeviceGetNvLinkRemotePciInfo", handle, link)
        kind = nvml.ask("nvmlDeviceGetNvLinkRemoteDeviceType", handle, link)
        links.append(
            {
                "link": link,
                "state": "up",
                "version": nvml.ask("nvmlDeviceGetNvLinkVersion", handle, link),
                "remote_pci_bus_id": remote if is_missing(remote) else text_of(remote.busId),
                "switch": kind == _SWITCH,
            }
        )
    return links


def shared_links(first: Any, second: Any, second_bus: Any, first_bus: Any = None) -> int:
    """Return how many links lead from one card to another, directly or through switches."""
    if not isinstance(first, list) or not isinstance(second, list):
        return 0
    direct = _leading(first, second_bus)
    if any(is_missing(link["remote_pci_bus_id"]) for link in first):
        # The other end may tell what this one does not.
        direct = max(direct, _leading(second, first_bus))
    return direct or min(_switched(first), _switched(second))


def _leading(links: list[dict[str, Any]], bus: Any) -> int:
    return sum(1 for link in links if link["state"] == "up" and _same_bus(link["remote_pci_bus_id"], bus))


def _switched(links: list[dict[str, Any]]) -> int:
    return sum(1 for link in links if link["state"] == "up" and link.get("switch"))


def _same_bus(first: Any, second: Any) -> bool:
    """Compare bus ids without their domain's leading zeros, of which there are four or eight."""
    if not isinstance(first, str) or not isinstance(second, str):
        return False
    return first.lower().lstrip("0") == second.lower().lstrip("0")
