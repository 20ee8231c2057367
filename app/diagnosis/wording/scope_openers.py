"""Device scopes that a library opened by itself: whose they are, and what for."""

from __future__ import annotations

from app.facts.dialects import DIALECTS
from app.judgments.evidence import Known, TransferEvidence
from app.views.naming import flat, told


def consumer_scope(evidence: TransferEvidence) -> str:
    """The scope of the consumer, in brackets; '' where no line is known."""
    return opened(evidence.scope, evidence.scope_opener)


def producer_scope(evidence: TransferEvidence) -> str:
    """The scope of the producer, likewise."""
    return opened(evidence.producer_scope, evidence.producer_scope_opener)


def opened(lines: Known[str], openers: Known[str] = None) -> str:
    """`` (the scope opened at train.py:12)``, '' where no line is known."""
    said = [f"the scope opened at {told(lines, 'lines')}"] if flat(lines) else []
    said += dict.fromkeys(map(purpose, flat(openers)))
    return f" ({'; '.join(said)})" if said else ""


def library(opener: str) -> str:
    """The library whose function opened a scope: ``tf.distribute``; its package where that has no name."""
    for path, name in (pair for dialect in DIALECTS for pair in dialect.libraries):
        if opener.startswith(path):
            return name
    return opener.partition("/")[0].partition(".py")[0]


def purpose(opener: str) -> str:
    """``tf.distribute's own scope: each replica's step runs on the replica's device``."""
    scopes = (pair for dialect in DIALECTS for pair in dialect.scopes)
    what = next((what for path, what in scopes if opener.startswith(path)), "")
    name = library(opener)
    owns = "'" if name.endswith("s") else "'s"
    return f"{name}{owns} own scope" + (f": {what}" if what else "")
