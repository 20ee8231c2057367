"""Makes the rows of samples.jsonl that a run's companion would write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from app.store.sample_parsing import SampleParser, SampleTable

UNSUPPORTED = {"state": "unsupported", "reason": "NVML_ERROR_NOT_SUPPORTED"}
LOST = {"state": "error", "reason": "NVML_ERROR_GPU_IS_LOST"}
UTIL, MEMORY, POWER = "utilization_gpu_percent", "memory_used_bytes", "power_watts"


def gpu(index: Any = 0, **fields: Any) -> dict[str, Any]:
    known = {"index": index, "uuid": f"GPU-{index}", "name": "Card", "memory_total_bytes": 1000}
    return known | {UTIL: 10, MEMORY: 100, POWER: 50.5, "throttle_reasons": ["idle"]} | fields


def full(t: float, *gpus: dict[str, Any], **more: Any) -> dict[str, Any]:
    row = {"t": 1000.0 + t, "mono": 50.0 + t, "full": True, "every": 1.0, "unsampled": None, "nvml": "ok"}
    host = {"cpu_percent": 20.0, "memory_used_bytes": 5000, "cpu_cores": 4}
    return row | {"gpus": list(gpus), "host": host, "run": {"memory_bytes": 10, "processes": 1}} | more


def row(t: float, **more: Any) -> dict[str, Any]:
    return {"t": 1000.0 + t, "mono": 50.0 + t, **more}


def parsed(*rows: dict[str, Any] | bytes) -> SampleTable:
    parser = SampleParser()
    parser.feed(one if isinstance(one, bytes) else json.dumps(one).encode() for one in rows)
    return parser.table()


def write(folder: Path, *rows: dict[str, Any], rest: str = "") -> None:
    with (folder / "samples.jsonl").open("a") as file:
        file.writelines(json.dumps(one) + "\n" for one in rows)
        file.write(rest)
