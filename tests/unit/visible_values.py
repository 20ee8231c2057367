"""CUDA_VISIBLE_DEVICES values of every kind, each with what it comes to on a machine of four GPUs.

The outcome is written out by hand, from NVIDIA's guides and, where those leave it open, from what PyTorch's
tests (test/test_cuda_nvml_based_avail.py) say of drivers: numbers are CUDA's own, letters are cards by UUID.
"""

from __future__ import annotations

UUIDS = {
    "a": "GPU-9942190a-aa31-4ff1-4aa9-c388d80f85f1",
    "b": "GPU-9e8d35e3-a134-0fdd-0e01-23811fdbd293",
    "c": "GPU-e429a63e-c61c-4795-b757-5132caeb8e70",
    "d": "GPU-eee1dfbc-0a0f-6ad8-5ff6-dc942a8b9d98",
}
A, B, C, D = UUIDS.values()

Outcome = list[int | str]

DOCUMENTED: dict[str | None, Outcome] = {
    # Unset shows all, empty none.
    None: [0, 1, 2, 3],
    "": [],
    # The order of the list is the order of the devices.
    "0": [0],
    "3": [3],
    "2,1": [2, 1],
    "3,2,1,0": [3, 2, 1, 0],
    "1,3,0,2": [1, 3, 0, 2],
    # An invalid entry ends the list.
    "-1": [],
    "0,2,-1,1": [0, 2],
    "-1,0": [],
    "4": [],
    "007,003": [],
    "1,4,0": [1],
    "0,999,1": [0],
    "2,-5": [2],
    "one": [],
    "one,two,3,0": [],
    "3,2,two,1": [3, 2],
    "none": [],
    "all": [],
    "NoDevFiles": [],
    "cuda:0": [],
    "gpu:1": [],
    ",": [],
    ",0": [],
    "0,": [0],
    "0,,1": [0],
    "1,0,": [1, 0],
    " ": [],
    "\t": [],
    "\n": [],
    "-": [],
    "+": [],
    "- 1": [],
    "gpu-9e8d35e3": [],
    "-99999999999999999999": [],
    # Space beside numbers, and noughts before them.
    " 1 , 0 ": [1, 0],
    "0, 1, 2, -1, 3": [0, 1, 2],
    "\t2,\n3": [2, 3],
    "003,01": [3, 1],
    # What stands behind a duplicate that is past the end does not count.
    "1,-1,1": [1],
    "0,9,0": [0],
    # UUIDs, whole or cut short as long as one card alone begins so.
    A: ["a"],
    f"{D},{A}": ["d", "a"],
    f"{A},{B},{C},{D}": ["a", "b", "c", "d"],
    "GPU-9e8d35e3": ["b"],
    "GPU-e4,GPU-9e8d35e3": ["c", "b"],
    "GPU-9e,GPU-99": ["b", "a"],
    "GPU-e": [],
    "GPU-": [],
    "GPU-9e8d35e3,GPU-e,GPU-99": ["b"],
    "GPU-123,GPU-9e8d35e3": [],
    "GPU-9e8d35e3,GPU-123,GPU-99": ["b"],
    f"{A}0": [],
    "9e8d35e3-a134-0fdd-0e01-23811fdbd293": [],
    # There is no MIG instance on this machine.
    "MIG-89c850dc": [],
    f"MIG-{A}/1/0": [],
}
"""What NVIDIA's guides say, or nobody doubts."""

OPEN: dict[str | None, Outcome] = {
    # Like C's strtol: a sign in front, and anything behind the digits.
    "1gpu2,2ampere": [1, 2],
    "1abc": [1],
    "2, +3, -0, 1": [2, 3, 0, 1],
    "+1": [1],
    "-0": [0],
    "0x1": [0],
    "0;1,2": [0, 2],
    "1.9": [1],
    "2e1": [2],
    "0-3": [0],
    "1:0": [1],
    # A device that is named twice leaves none at all.
    "0,0": [],
    "0,1,2,1": [],
    "1,01": [],
    "0,-0": [],
    "0,0,-1": [],
    f"{A},{A}": [],
    "GPU-9e8d35e3,GPU-e4,GPU-9e8": [],
    # Numbers and UUIDs in one list: the second kind ends it.
    f"{A},1": ["a"],
    "GPU-9e8d35e3, 2": ["b"],
    f"1,{A},0": [1],
    # Out of any range.
    "99999999999": [],
    "1,18446744073709551616,0": [1],
    "9" * 5000: [],
    # A MIG instance behind a whole GPU, which is of another kind.
    f"{C},MIG-89c850dc,{A}": ["c"],
}
"""What they leave open, and others agree on."""

UNSETTLED: dict[str | None, Outcome] = {
    # Upper case, and space beside a UUID: PyTorch takes neither, nvitop takes space. A card that may be
    # seen is better counted as seen, and the entry says that it is not sure.
    "GPU-9E8D35E3": ["b"],
    f"{A}, {B}": ["a", "b"],
    f" {A}": ["a"],
    f"{A} ,{B}": ["a", "b"],
}
"""What they leave open, and others do not agree on."""

VALUES = DOCUMENTED | OPEN | UNSETTLED
