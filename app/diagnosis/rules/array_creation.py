"""Where an array was created from nothing that the code copies elsewhere."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from app.facts.tables import Tables
from app.judgments.judgment import Judgment


def with_makers(cause: Judgment, fields: Mapping[str, Any], tables: Tables) -> Judgment:
    """The cause of such an array's copy, at the line that makes it, or the first of what it is made of."""
    if "made_without_context" not in cause.evidence:
        return cause
    sites = [site for loc in fields.get("from_nothing_locs") or () if (site := tables.site(loc))]
    told = {"made_at": list(dict.fromkeys(sites)), "copied_at": tables.site(fields.get("loc"))}
    return dataclasses.replace(cause, evidence=cause.evidence | told, at=sites[0] if sites else None)
