"""Variables that are read away from where they live."""

from __future__ import annotations

import dataclasses
import re

from app.diagnosis.rules.placements import call_of, copied_again, reads_variable
from app.facts.devices import is_host
from app.facts.tables import Tables
from app.facts.transfers.transfer import Transfer
from app.judgments.evidence import Known, TransferEvidence
from app.judgments.judgment import Judgment
from app.judgments.severity import INFO, WARNING
from probes.trace.rows import Key
from probes.trace.sites import COMPREHENSIONS


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evidence(TransferEvidence):
    """Of reads of variables."""

    rows: Known[bool] = None
    """Only rows are looked up."""
    kept_by: Known[str] = None
    """Strategy that keeps the variable where it is."""
    created_at: Known[str] = None
    created_in: Known[str] = None
    """Device of the scope there."""
    created_alone: Known[bool] = None
    """That line creates one variable only."""
    object_made_at: Known[str] = None
    """Line that makes the object whose constructor creates it."""
    gradient_goes_back: Known[bool] = None
    unchanged_again: Known[bool] = None
    one_reader_each: bool | None = None
    """Several devices read variables, each of them other ones."""
    changed_at: list[str] | None = None
    """Lines that change it by ops that nobody placed."""


_UNNAMED = re.compile(r"Variable(_\d+)?")
"""What TensorFlow calls a variable that the code gave no name."""
_SETS_UP = "__init__"


def variable_read(transfer: Transfer) -> Evidence | None:
    """A variable's value is read on another device than the variable's."""
    if not reads_variable(transfer):
        return None
    facts = transfer.facts
    return Evidence(
        lives_on=transfer.src,
        rows=transfer.producer_op == "ResourceGather" or None,
        variable=facts.get("variable") or None,
        kept_by=facts.get("kept_by") or None,
        created_at=facts.get("created_at") or None,
        created_in=facts.get("created_in") or None,
    )


def variable_copied(transfer: Transfer) -> Evidence | None:
    """The code copies a variable of the host's to use it, as autograd records: its gradient comes back."""
    if not transfer.facts.get("autograd_copies") or not is_host(transfer.src):
        return None
    name = transfer.facts.get("variable")
    return Evidence(
        lives_on=transfer.src,
        gradient_goes_back=True,
        variable=str(name) if name else None,
        unchanged_again=copied_again(transfer) or None,
        call=call_of(transfer),
    )


def with_creation(evidence: Evidence, judgment: Judgment, key: Key, tables: Tables) -> Judgment:
    """The judgment with the line that created the variable, and the one that made its object."""
    fields = key.fields
    made = tables.locations.get(fields.get("variable_loc") or 0)
    if made is None:
        return judgment
    call = tables.site(fields.get("variable_call_loc"))
    unnamed = _UNNAMED.fullmatch(str(evidence.variable))
    # Of a line in a comprehension the recorder told the call of the function around.
    sets_up = made.function == _SETS_UP or made.function in COMPREHENSIONS
    return judgment.knowing(
        created_at=made.site,
        created_alone=bool(fields.get("variable_alone")) or None,
        object_made_at=call if sets_up else None,
        variable=f"{evidence.variable} of {made.site}" if unnamed else evidence.variable,
    )


def severity_of(transfer: Transfer, evidence: Evidence) -> str:
    """A warning of what recurs and is more than a few bytes."""
    recurs = transfer.every_step or (transfer.often and transfer.kind != "arg")
    return WARNING if recurs and not transfer.tiny else INFO
