"""In which order CUDA counts the devices that this process may see, as one line of JSON.

A process of its own: the order is fixed when CUDA starts, by CUDA_DEVICE_ORDER and CUDA_VISIBLE_DEVICES.
``{"cuda_driver", "devices": [{"ordinal", "name", "uuid", "pci_bus_id", "parent_uuid" of a MIG instance}]}``,
or ``{"problem": why not}``.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from .driver import LIBRARY, NO_DEVICE, CudaError, Driver


def order() -> dict[str, Any]:
    """Ask the driver; never raises."""
    try:
        driver = Driver.start()
    except OSError:
        return {"problem": f"there is no NVIDIA driver: {LIBRARY} was not found"}
    except CudaError as error:
        # With CUDA_VISIBLE_DEVICES empty, a driver may refuse to start instead of showing nothing.
        return {"devices": []} if error.code == NO_DEVICE else {"problem": str(error)}
    try:
        devices = [
            {"ordinal": ordinal, "name": driver.name(ordinal), **driver.identity(ordinal)}
            for ordinal in range(driver.count())
        ]
        return {"cuda_driver": driver.version(), "devices": devices}
    except CudaError as error:
        return {"problem": str(error)}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(order()) + "\n")
