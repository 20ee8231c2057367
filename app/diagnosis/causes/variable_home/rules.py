"""Variables that are read away from where they live."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any

from app.diagnosis.rules.repeated_copies import call_of, copied_again
from app.facts.devices import is_host
from app.facts.tables import Tables
from app.facts.transfers.transfer import Transfer
from app.judgments.judgment import Judgment
from app.judgments.severity import INFO, WARNING
from probes.trace.rows import Key
from probes.trace.sites import COMPREHENSIONS

_UNNAMED = re.compile(r"Variable(_\d+)?")
"""What TensorFlow calls a variable that the code gave no name."""
_SETS_UP = "__init__"


def variable_copied(transfer: Transfer) -> dict[str, Any] | None:
    """The code copies a variable of the host's to use it, as autograd records: its gradient comes back."""
    if not transfer.facts.get("autograd_copies") or not is_host(transfer.src):
        return None
    name = transfer.facts.get("variable")
    told = {"lives_on": transfer.src, "gradient_goes_back": True} | ({"variable": str(name)} if name else {})
    return told | ({"unchanged_again": True} if copied_again(transfer) else {}) | call_of(transfer)


def with_creation(judgment: Judgment, key: Key, tables: Tables) -> Judgment:
    """The judgment with the line that created the variable, and the one that made its object."""
    fields = key.fields
    made = tables.locations.get(fields.get("variable_loc") or 0)
    if made is None:
        return judgment
    evidence = judgment.evidence | {"created_at": made.site}
    if fields.get("variable_alone"):
        evidence["created_alone"] = True
    call = tables.site(fields.get("variable_call_loc"))
    # Of a line in a comprehension the recorder told the call of the function around.
    if call and (made.function == _SETS_UP or made.function in COMPREHENSIONS):
        evidence["object_made_at"] = call
    if _UNNAMED.fullmatch(str(evidence.get("variable"))):
        evidence["variable"] = f"{evidence['variable']} of {made.site}"
    return dataclasses.replace(judgment, evidence=evidence)


def severity_of(transfer: Transfer, evidence: Mapping[str, Any]) -> str:
    """A warning of what recurs and is more than a few bytes."""
    recurs = transfer.every_step or (transfer.often and transfer.kind != "arg")
    return WARNING if recurs and not transfer.tiny else INFO
