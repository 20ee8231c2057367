"""Which part a process plays in a distributed run, as ps-lite's variables say."""

from __future__ import annotations

import os

from ..trace.recording import Recording
from ..trace.schema import LaterFacts


def install(recording: Recording) -> None:
    """Say the process's role; its rank is its place among those of its role, where the launcher told it.

    The scheduler gives ranks when processes connect, which may be in another order; a worker's own number
    there is told as `kvstore_rank` once it has one.
    """
    role = os.environ.get("DMLC_ROLE")
    if not role or os.environ.get("HOPSCOPE_ROLE"):
        return
    facts: LaterFacts = {"role": role}
    rank = os.environ.get("DMLC_WORKER_ID" if role == "worker" else "DMLC_SERVER_ID", "")
    if rank.isdigit():
        facts["rank"] = int(rank)
    recording.fact(facts)
