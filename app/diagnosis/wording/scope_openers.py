"""Device scopes that a library opened by itself: whose they are, and what for."""

from __future__ import annotations

from app.facts.dialects import DIALECTS


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
