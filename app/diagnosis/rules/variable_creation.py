"""Where a variable was created that is read far from where it lives: its line, and the object's it is of."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any

from app.facts.tables import Tables
from app.judgments.judgment import Judgment
from probes.trace.sites import COMPREHENSIONS

_UNNAMED = re.compile(r"Variable(_\d+)?")
"""What TensorFlow calls a variable that the code gave no name."""
_SETS_UP = "__init__"


def with_creation(cause: Judgment, fields: Mapping[str, Any], tables: Tables) -> Judgment:
    """The cause of a read with the line that created the variable, and the one that made its object."""
    made = tables.locations.get(fields.get("variable_loc") or 0)
    if cause.code != "variable-home" or made is None:
        return cause
    evidence = cause.evidence | {"created_at": made.site}
    if fields.get("variable_alone"):
        evidence["created_alone"] = True
    call = tables.site(fields.get("variable_call_loc"))
    # Of a line in a comprehension the recorder told the call of the function around.
    if call and (made.function == _SETS_UP or made.function in COMPREHENSIONS):
        evidence["object_made_at"] = call
    if _UNNAMED.fullmatch(str(evidence.get("variable"))):
        evidence["variable"] = f"{evidence['variable']} of {made.site}"
    return dataclasses.replace(cause, evidence=evidence)
