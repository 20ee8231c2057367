"""What the diagnosis has to know of a framework's own code."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Dialect:
    """A framework, as the diagnosis knows it; whatever is left out, it does without."""

    name: str
    """As in `runners.environments.frameworks.FRAMEWORKS`."""
    libraries: tuple[tuple[str, str], ...] = ()
    """Where a library's files are -> its name; the first that fits."""
    scopes: tuple[tuple[str, str], ...] = ()
    """Where a function stands that opens a device scope -> what the scope is for; the first that fits."""
    own_loops: tuple[str, ...] = ()
    """Where loops over steps are that are reported by what they take values for."""
    one_call: tuple[str, ...] = ()
    """Where functions are that a line calls, and no library's loop over steps."""
    wrappers: frozenset[str] = frozenset()
    """Its functions around any function of its own."""
    places_ops: bool = False
    """Whether it chooses each op's device by its kernels, of which a table is here; else arrays decide."""
    host_device: str = "logical device"
    """What its code calls a device of the host."""
    counted_by_calls: tuple[str, ...] = ()
    """What went unseen and is counted by its calls, as nothing is known of what is in it."""
