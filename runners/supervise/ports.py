"""Free TCP ports for a run's members: `<port:NAME>` in their commands and environments stands for one."""

from __future__ import annotations

import contextlib
import random
import re
import socket
from collections.abc import Iterable

from runners.errors import HopscopeError
from runners.supervise.members import Stage

PORTS = range(20000, 32768)
"""Below those that Linux gives to outgoing connections, one of which could take a port before its member."""
_TRIES = 2000
_PLACEHOLDER = re.compile(r"<port:([A-Za-z0-9_.-]+)>")


def fill_ports(stages: Iterable[Stage]) -> tuple[Stage, ...]:
    """Return the stages with free ports in place of the names, one port a name in all of them."""
    found = tuple(stages)
    texts = (text for stage in found for member in stage.members for text in member.texts())
    ports = free_ports({name for text in texts for name in _PLACEHOLDER.findall(text)})

    def fill(text: str) -> str:
        return _PLACEHOLDER.sub(lambda match: str(ports[match[1]]), text)

    return tuple(stage.filled(fill) for stage in found)


def free_ports(names: Iterable[str]) -> dict[str, int]:
    """Return a port for each name on which nobody listens now.

    They rise in the order of the names, worker-2 before worker-10, since some frameworks count by ports.
    """
    ordered = sorted(names, key=_parts)
    with contextlib.ExitStack() as held:
        found = sorted(_free_port(held) for _ in ordered)
    return dict(zip(ordered, found, strict=True))


def _free_port(held: contextlib.ExitStack) -> int:
    """Return a free port, which stays taken until `held` is closed."""
    for _ in range(_TRIES):
        port = random.choice(PORTS)
        taken = socket.socket()
        try:
            # All addresses, since a member may want to listen on any of them.
            taken.bind(("", port))
        except OSError:
            taken.close()
        else:
            held.enter_context(taken)
            return port
    raise HopscopeError(f"no free TCP port was found in {PORTS[0]} to {PORTS[-1]}")


def _parts(name: str) -> list[tuple[int, int, str]]:
    """Return what names are sorted by: numbers in them by their value."""
    parts = re.split(r"(\d+)", name)
    return [(1, int(part), "") if part.isdecimal() else (0, 0, part) for part in parts]
