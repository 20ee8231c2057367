"""A program that uses CUDA as a framework does: it loads the driver, starts it, and counts its devices."""

import ctypes
import json
import os

from probes.trace.cards import card_facts, cuda_environment

before = card_facts(0)
cuda = ctypes.CDLL("libcuda.so.1")
loaded = card_facts(0)
if "HIDE_BY_ITSELF" in os.environ:
    os.environ["CUDA_VISIBLE_DEVICES"] = os.environ["HIDE_BY_ITSELF"]
assert cuda.cuInit(0) == 0
number = ctypes.c_int()
cuda.cuDeviceGetCount(ctypes.byref(number))
started = [card_facts(ordinal) for ordinal in range(number.value)]
facts = {"before": before, "loaded": loaded, "started": started, "environment": cuda_environment()}
print(json.dumps(facts), flush=True)
