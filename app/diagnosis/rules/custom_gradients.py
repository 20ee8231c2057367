"""Ops that nobody wrote: TensorFlow's own, made where the code calls a function of custom gradients.

Such a function's results pass an Identity each, what tf.recompute_grad recomputes from as well, on the device
of the scope that the function is called in.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from app.facts.tables import Tables
from app.judgments.judgment import Judgment

_HANDS_ON = frozenset({"Identity", "IdentityN"})
_CUSTOM_GRADIENTS = "tensorflow/python/ops/custom_gradient.py"


def with_own_op(cause: Judgment, fields: Mapping[str, Any], tables: Tables) -> Judgment:
    """The cause of an op that nobody placed; of TensorFlow's own it says so."""
    role = "producer_" if cause.blames == "producer" else ""
    if cause.code != "default-device" or fields.get(f"{role}op") not in _HANDS_ON:
        return cause
    via = tables.via(fields.get(f"{role}loc")) or ""
    if not via.startswith(_CUSTOM_GRADIENTS):
        return cause
    return dataclasses.replace(cause, evidence=cause.evidence | {"own_op": "a function of custom gradients"})
