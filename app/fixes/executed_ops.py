"""Where the ops of lines ran and variables were made: what a fix must not put apart."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from app.facts.lines import split_site
from app.facts.placement import Op
from app.facts.transfers.transfer import NOT_THE_CODES, PLUMBING, READS

_MADE = frozenset({"VarHandleOp", "VariableV2", "Variable"})
_NOTHING = frozenset({"Const", "NoOp", "Shape", "Placeholder"}) | _MADE | PLUMBING
"""Types of ops that take no data from elsewhere."""


_UPDATES = (
    "AssignAddVariableOp",
    "AssignSubVariableOp",
    "ResourceApply",
    "ResourceScatter",
    "ResourceSparseApply",
)
"""How types of ops begin that change a variable's value by another: to assign one may be to load it."""


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

    def makes_elsewhere(self, file: str, first: int, last: int, device: str) -> bool:
        """Whether these lines make variables on other devices too."""
        sites = {f"{file}:{line}" for line in range(first, last + 1)}
        return any(op.type in _MADE and op.site in sites and op.assigned != device for op in self.ops())

    def used_at(self, home: str, but_for: str) -> list[Op]:
        """What lines that use variables of a device compute there, unless asked to elsewhere."""
        sites = {op.site for op in self.ops() if _of_variable(op.type) and op.assigned == home}
        sites -= {op.site for op in self.ops() if op.type in _MADE}
        return [
            op
            for op in self.ops()
            if op.site in sites and op.assigned == home and op.requested != but_for
            if op.type not in _NOTHING | NOT_THE_CODES and not _of_variable(op.type)
        ]

    def reads_on(self, home: str) -> list[str]:
        """The lines that read variables of a device, or rows of them, wherever they go on with these."""
        reads = (op for op in self.ops() if op.assigned == home and op.site)
        found = dict.fromkeys(op.site for op in reads if op.type in READS - _MADE)
        return [site for site in found if site is not None]

    def updates_on(self, home: str) -> list[str]:
        """The lines that change variables of a device by what they compute, as optimizers do."""
        found = dict.fromkeys(
            op.site for op in self.ops() if op.assigned == home and op.type.startswith(_UPDATES)
        )
        return [site for site in found if site is not None]

    def traced(self, names: set[str]) -> list[Op]:
        """Ops of traced functions of these names that compute something."""
        none = NOT_THE_CODES | READS | {"Const", "NoOp"}
        return [op for op in self.ops() if op.function in names and op.assigned and op.type not in none]

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
