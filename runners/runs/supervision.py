"""What those who stop a run and the process that owns it agree on."""

from __future__ import annotations

SUPERVISOR_MODULE = "runners.supervise.supervisor"
STOP_NAME = "stop.json"
DEFAULT_GRACE_S = 10.0
