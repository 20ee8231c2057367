"""Launching from the page: a button that is pressed twice launches once."""

from __future__ import annotations

import time
from collections.abc import MutableMapping
from typing import Any

from app import access
from runners.errors import UsageError
from runners.plan.launcher import launch
from runners.plan.plan import Plan

SAME_S = 3.0
_LAST = "last-launch"


def launch_once(plan: Plan, session: MutableMapping[Any, Any]) -> str:
    """Launch and return the run's id; that of the last launch where it was this very plan, moments ago.

    Raises HopscopeError where it can't be launched.
    """
    if access.role() != "operator":
        raise UsageError("only operators may launch anything")
    last = session.get(_LAST)
    if last is not None and last[0] == plan and time.monotonic() - last[2] < SAME_S:
        return str(last[1])
    run = launch(plan)
    session[_LAST] = plan, run.id, time.monotonic()
    return run.id
