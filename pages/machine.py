"""Machine: what the GPUs and the host do now and did of late; which card is which, and what it can do."""

from __future__ import annotations

from app.web.machine.machine_panel import machine_panel

machine_panel()
