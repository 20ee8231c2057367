"""The evidence does not decide."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from app.diagnosis.cause import Cause
from app.diagnosis.causes.unknown.example import EXAMPLE
from app.diagnosis.wording.transfer_words import UNDECIDED, TransferWords
from app.facts.transfers.transfer import Transfer
from app.judgments.evidence import Known, TransferEvidence
from app.judgments.severity import INFO
from app.views.naming import told

_NOT_SHOWN = frozenset({"input_slots"})


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evidence(TransferEvidence):
    """Of transfers that no rule decides about."""

    argument_made_by: Known[str] = None
    recorded: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """Further facts, by the recorder's names."""

    def row(self) -> dict[str, Any]:
        """As the report has it: the recorder's facts stand among the others."""
        row = super().row() | {**self.recorded}
        del row["recorded"]
        return row


_FIELDS = frozenset(field.name for field in dataclasses.fields(Evidence))


def what_is_known(transfer: Transfer) -> Evidence:
    """All that the recorder told of a transfer."""
    facts = {
        name: value
        for name, value in transfer.facts.items()
        if value not in ("", None) and name not in _NOT_SHOWN
    }
    if transfer.kind == "arg":
        facts["argument_made_by"] = transfer.producer_op
    shared = {name: facts.pop(name) for name in _FIELDS & facts.keys()}
    return Evidence(**shared, recorded=facts)


def summary(words: TransferWords, evidence: Evidence) -> str:
    """What crosses, and that nothing tells why."""
    argument = "An argument made on {src} by {argument_made_by} is used on {dst} by {consumers} at {at}"
    return words.say(argument if words.first.kind == "arg" else UNDECIDED)


def because(evidence: Evidence) -> str:
    """What is known where that does not decide."""
    asked = {"producer": evidence.producer_requested, "consumer": evidence.requested}
    known = [f"{devices} for the {role}" for role, one in asked.items() if (devices := told(one, "devices"))]
    return f"Known: requested {' and '.join(known)}." if known else ""


CAUSE = Cause(
    code="unknown",
    severity=INFO,
    evidence=Evidence,
    meaning="The evidence does not decide.",
    example=EXAMPLE,
    summary=summary,
    because=because,
)
