"""Where the ops of lines ran and variables were created: what a fix must not put apart."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Sequence

from app.facts.placement import Op
from app.facts.transfers.transfer import NOT_THE_CODES, PLUMBING, READS

_CREATES = frozenset({"VarHandleOp", "VariableV2", "Variable"})
_NOTHING = frozenset({"Const", "NoOp", "Shape", "Placeholder"}) | _CREATES | PLUMBING
"""Types of ops that take no data from elsewhere."""
_OF_OPTIMIZERS = ("ResourceApply", "ResourceScatter", "ResourceSparse")
_UPDATES = ("AssignAddVariableOp", "AssignSubVariableOp", *_OF_OPTIMIZERS)
"""How types of ops begin that change a variable's value by another: to assign one may be to load it."""


@dataclasses.dataclass(frozen=True)
class Ran:
    """The ops of a run by their lines."""

    ops: Callable[[], Sequence[Op]] = tuple
    """All of them; asked for only where a fix depends on it."""

    def _at(self, sites: Collection[str | None]) -> list[Op]:
        return [op for op in self.ops() if op.site in sites and op.type not in _NOTHING]

    def homes(self, sites: Collection[str | None]) -> set[str]:
        """Devices of the variables that some lines read or assign."""
        return {op.assigned for op in self._at(sites) if _of_variable(op.type)}

    def computed(self, sites: Collection[str | None]) -> list[Op]:
        """Ops of some lines that scopes decide about: those of variables run where these live."""
        return [op for op in self._at(sites) if not _of_variable(op.type)]

    def created_on(self, device: str) -> list[str]:
        """The lines that created variables on a device."""
        return _sites(op for op in self.ops() if op.type in _CREATES and op.assigned == device)

    def creates_elsewhere(self, sites: Collection[str | None], device: str) -> bool:
        """Whether some lines create variables on other devices too."""
        return any(op.type in _CREATES and op.site in sites and op.assigned != device for op in self.ops())

    def used_at(self, home: str, but_for: str) -> list[Op]:
        """What lines that use variables of a device compute there, unless asked to elsewhere."""
        sites = {op.site for op in self.ops() if _of_variable(op.type) and op.assigned == home}
        sites -= {op.site for op in self.ops() if op.type in _CREATES}
        return [
            op
            for op in self.computed(sites)
            if op.assigned == home and op.requested != but_for and op.type not in NOT_THE_CODES
        ]

    def reads_on(self, home: str) -> list[str]:
        """The lines that read variables of a device, or rows of them, wherever they go on with these."""
        return _sites(op for op in self.ops() if op.assigned == home and op.type in READS - _CREATES)

    def updates_on(self, home: str) -> list[str]:
        """The lines that change variables of a device by what they compute, as optimizers do."""
        return _sites(op for op in self.ops() if op.assigned == home and op.type.startswith(_UPDATES))

    def traced(self, names: set[str]) -> list[Op]:
        """Ops of traced functions of these names that compute something."""
        none = NOT_THE_CODES | READS | {"Const", "NoOp"}
        return [op for op in self.ops() if op.function in names and op.assigned and op.type not in none]

    @property
    def known(self) -> bool:
        """Whether the run has records of ops at all."""
        return bool(self.ops())


def _of_variable(kind: str) -> bool:
    assigns = kind.startswith("Assign") and kind.endswith("VariableOp")
    return kind in READS or assigns or kind.startswith((*_OF_OPTIMIZERS, "ResourceGather"))


def _sites(ops: Iterable[Op]) -> list[str]:
    return list(dict.fromkeys(op.site for op in ops if op.site))
