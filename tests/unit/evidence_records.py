"""The evidence of a cause, made of facts by name."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from app.diagnosis.causes.replica_drift.cause import Steps, Updates
from app.diagnosis.registry import BY_CODE
from app.judgments.evidence import Moved, Record, UnseenEvidence, Waited

_PARTS: tuple[tuple[str, type[Record]], ...] = (
    ("moved", Moved),
    ("waited", Waited),
    ("between", Updates),
    ("between", Steps),
)


def evidence(code: str, facts: Mapping[str, Any] | None = None, **more: Any) -> Any:
    """The record of a cause; None stands for what it has to have and is not given."""
    given = {**(facts or {}), **more}
    kind = UnseenEvidence if "what" in given else BY_CODE[code].evidence
    own = {field.name for field in dataclasses.fields(kind)}
    for name, part in _PARTS:
        inside = {field.name for field in dataclasses.fields(part)} & given.keys() - own
        if name in own and inside:
            given[name] = _made(part, {one: given.pop(one) for one in inside})
    return _made(kind, given)


def _made(kind: type[Record], given: Mapping[str, Any]) -> Record:
    fields = dataclasses.fields(kind)
    needed = [one.name for one in fields if one.default is one.default_factory is dataclasses.MISSING]
    return kind(**{**dict.fromkeys(needed), **given})
