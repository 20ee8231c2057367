"""Every cause code with how bad it is where the facts say nothing else."""

from __future__ import annotations

SEVERITY = {
    "explicit": "info",
    "default-device": "warning",
    "device-order": "warning",
    "gradient-outside-scope": "warning",
    "no-kernel": "warning",
    "host-memory": "info",
    "missing-device": "warning",
    "colocation": "info",
    "variable-home": "warning",
    "host-sync": "warning",
    "host-upload": "info",
    "mixed-context": "error",
    "redundant-copy": "warning",
    "bounce": "warning",
    "collective": "info",
    "reduce-on-host": "warning",
    "replica-drift": "error",
    "xla-opaque": "warning",
    "unbalanced": "warning",
    "unknown": "info",
}
