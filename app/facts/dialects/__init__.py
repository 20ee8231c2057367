"""What only one framework has, in the terms that all causes share."""

from __future__ import annotations

from app.facts.dialects import mxnet, tensorflow
from app.facts.dialects.dialect import Dialect

DIALECTS: tuple[Dialect, ...] = (tensorflow.DIALECT, mxnet.DIALECT)
BY_NAME = {dialect.name: dialect for dialect in DIALECTS}


def dialect_of(framework: str | None) -> Dialect:
    """A framework's dialect; the first one for a framework that is not known."""
    return BY_NAME.get(framework or "", DIALECTS[0])
