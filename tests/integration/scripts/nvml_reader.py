"""Reads what NVML says through pynvml, as a program would: one line of JSON for each line on stdin.

A line names a function of pynvml and its arguments as JSON; {"gpu": 2} is that GPU's handle,
{"mig": [2, 0]} an instance's; "name=function" keeps the result as {"kept": name}. The answer is
{"value": ..} or {"error": NVML's number}.
"""

import ctypes
import json
import sys

import pynvml


def plain(value):
    if isinstance(value, (ctypes.Structure, ctypes.Union)):
        return {name[0]: plain(getattr(value, name[0])) for name in value._fields_}
    if isinstance(value, (list, tuple, ctypes.Array)):
        return [plain(part) for part in value]
    if isinstance(value, bytes):
        return value.decode()
    if hasattr(value, "__dict__") and not isinstance(value, type):
        return {name: plain(part) for name, part in vars(value).items()}
    if isinstance(value, ctypes._Pointer):
        return bool(value)
    return value


kept = {}


def argument(value):
    if isinstance(value, dict) and "gpu" in value:
        if value["gpu"] not in kept:
            kept[value["gpu"]] = pynvml.nvmlDeviceGetHandleByIndex(value["gpu"])
        return kept[value["gpu"]]
    if isinstance(value, dict) and "mig" in value:
        gpu, index = value["mig"]
        return pynvml.nvmlDeviceGetMigDeviceHandleByIndex(argument({"gpu": gpu}), index)
    if isinstance(value, dict) and "kept" in value:
        return kept[value["kept"]]
    return value


for line in sys.stdin:
    name, *arguments = json.loads(line)
    keep = None
    if "=" in name:
        keep, name = name.split("=")
    try:
        result = getattr(pynvml, name)(*(argument(one) for one in arguments))
        if keep:
            kept[keep] = result
        answer = {"value": None if keep else plain(result)}
    except pynvml.NVMLError as error:
        answer = {"error": error.value}
    except pynvml.NVMLLibraryMismatchError:
        answer = {"error": "library mismatch"}
    print(json.dumps(answer), flush=True)
