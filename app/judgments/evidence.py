"""What a judgment or a finding rests on: the records that causes share. Each cause declares its own.

Reports show the fields by their names. A field of `Known` holds what the transfers of one finding have in
common, or the list of what differs.
"""

from __future__ import annotations

import dataclasses
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")
Known: TypeAlias = T | list[T | None] | None
"""One value, or several that differ between transfers; None where nothing is known."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Record:
    """Facts that are written to reports."""

    def row(self) -> dict[str, Any]:
        """As the report has it: a field with a default only where it is known, records inside of it last."""
        row: dict[str, Any] = {}
        more: dict[str, Any] = {}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Record):
                more |= value.row()
            elif value is not None or field.default is dataclasses.MISSING:
                row[field.name] = value
        return row | more


@dataclasses.dataclass(frozen=True, kw_only=True)
class Moved(Record):
    """What the transfers of a finding move in the whole run."""

    transfers: int | None
    bytes: int | None
    estimated_copying_ns: int | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Waited(Record):
    """How long Python waited."""

    wait_ns: int | None
    copy_ns: int | None = None
    """The part of the whole time that was copying."""
    split: str | None = None
    """Basis of that part."""
    brought_at: list[str] | None = None
    """Lines that brought to the host what goes into the value."""
    idle_meanwhile: list[str] | None = None
    """Devices without work, each with the part of the time."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class FindingEvidence(Record):
    """Of any finding."""

    also_at: list[str] | None = None
    """Further lines of the same mistake."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class UnseenEvidence(FindingEvidence):
    """Of what the recorder did not see."""

    what: str
    count: int
    why: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class TransferEvidence(FindingEvidence):
    """Of transfers: who asked for the devices of both ends, and why each end is where it is."""

    requested: Known[str] = None
    """Device that the code asked for, for the consumer; '' for none."""
    assigned: Known[str] = None
    """Device that the runtime placed the consumer on."""
    producer_requested: Known[str] = None
    src: Known[str] = None
    dst: Known[str] = None
    scope: Known[str] = None
    """Line that opened the consumer's device scope."""
    producer_scope: Known[str] = None
    scope_opener: Known[str] = None
    """File and function of the library that opened it, where it was not the code."""
    producer_scope_opener: Known[str] = None
    default_device: Known[str] = None
    """Where the op went that nobody placed."""
    producer_default_device: Known[str] = None
    called_on: Known[str] = None
    """Device of the scope around the call of the op's function."""
    placed_by_call: list[str] | None = None
    """Ends that this scope placed: producer, consumer."""
    colocated_with: Known[str] = None
    producer_colocated_with: Known[str] = None
    producer_placed_beside: Known[str] = None
    lives_on: Known[str] = None
    """Device of a variable, a table or an iterator."""
    variable: Known[str] = None
    call: Known[str] = None
    """The code's call that copies."""
    result_of_a_call: Known[bool] = None
    """It is what a function returns."""
    own_op: Known[str] = None
    """Whose op it is that the code does not have."""
    moved: Moved | None = None
    waited: Waited | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class HostReadEvidence(TransferEvidence):
    """Of values that Python takes, or waits for."""

    taken_by: Known[str] = None
    kind: str | None = None
    """How Python waits, where no transfer is known."""
    count: int | None = None
    """Those waits."""
    inside: list[str] | None = None
    """Library functions that read the value by themselves."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExchangeEvidence(TransferEvidence):
    """Of devices that exchange tensors."""

    algorithm: Known[str] = None
    devices: Known[list[str]] = None
    summed_on: Known[str] = None
    exchanged: Known[str] = None
    """Gradients or weights."""
    exchanged_of: Known[str] = None
    """Their parameters."""
