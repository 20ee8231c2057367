"""Free TCP ports for a run's members: `<port:NAME>` in their commands and environments stands for one."""

from __future__ import annotations

import contextlib
import random
import re
import socket
from collections.abc import Iterable

from runners.errors import HopscopeError
from runners.members import Stage

PORTS = range(20000, 32768)
"""Below those that Linux gives to outgoing connections, one of which could take a port before its member."""
_TRIES = 2000
_PLACEHOLDER = re.compile(r"<port:([A-Za-z0-9_.-]+)>")


def fill_ports(stages: Iterable[Stage]) -> tuple[Stage, ...]:
    """Return the stages with free ports in place of the names, one port a name in all of them."""
    found = tuple(stages)
    texts = (text for stage in found for member in stage.members for text in member.texts())
    ports = free_ports(sorted({name for text in texts for name in _PLACEHOLDER.findall(text)}))

    def fill(text: str) -> str:
        return _PLACEHOLDER.sub(lambda match: str(ports[match[1]]), text)

    return tuple(stage.filled(fill) for stage in found)


def free_ports(names: Iterable[str]) -> dict[str, int]:
    """Return a port for each name on which nobody listens now; they are different."""
    ports: dict[str, int] = {}
    with contextlib.ExitStack() as held:
        for name in names:
            for _ in range(_TRIES):
                port = random.choice(PORTS)
                taken = held.enter_context(socket.socket())
                # All addresses, since a member may want to listen on any of them.
                with contextlib.suppress(OSError):
                    taken.bind(("", port))
                    ports[name] = port
                    break
                taken.close()
            else:
                raise HopscopeError(f"no free TCP port was found in {PORTS[0]} to {PORTS[-1]}")
    return ports
