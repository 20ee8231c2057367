"""Where the ops of lines ran and variables were made: what a fix must not put apart."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from app.analysis.lines import split_site
from app.analysis.placement import Op
from app.analysis.rules.placed import READS

_MADE = frozenset({"VarHandleOp", "VariableV2", "Variable"})
_NOTHING = frozenset({"Const", "NoOp", "Shape", "Placeholder"}) | _MADE
"""Types of ops that take no data from elsewhere."""


def _nothing() -> Sequence[Op]:
    return ()


@dataclasses.dataclass(frozen=True)
class Ran:
    """The ops of a run by their lines."""

    ops: Callable[[], Sequence[Op]] = _nothing
    """All of them; asked for only where a fix depends on it."""

    def at(self, file: str, first: int, last: int) -> list[Op]:
        """Ops of some lines of a file that compute something."""
        sites = {f"{file}:{line}" for line in range(first, last + 1)}
        return [op for op in self.ops() if op.site in sites and op.type not in _NOTHING]

    def homes(self, file: str, first: int, last: int) -> set[str]:
        """Devices of the variables that these lines read or assign."""
        return {op.assigned for op in self.at(file, first, last) if _of_variable(op.type)}

    def computed(self, file: str, first: int, last: int) -> list[Op]:
        """Ops of these lines that scopes decide about: those of variables run where these live."""
        return [op for op in self.at(file, first, last) if not _of_variable(op.type)]

    def made_on(self, device: str) -> list[tuple[str, int]]:
        """Files and lines that made variables on a device."""
        sites = [op.site for op in self.ops() if op.type in _MADE and op.assigned == device]
        places = [split_site(site) for site in dict.fromkeys(sites)]
        return [place for place in places if place is not None]

    @property
    def known(self) -> bool:
        """Whether the run tells of ops at all."""
        return bool(self.ops())


def _of_variable(kind: str) -> bool:
    return (
        kind in READS
        or (kind.startswith("Assign") and kind.endswith("VariableOp"))
        or kind.startswith(("ResourceApply", "ResourceScatter", "ResourceSparse", "ResourceGather"))
    )
