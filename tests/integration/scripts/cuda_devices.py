"""Prints the devices that libcuda.so.1 shows, as JSON: their bus ids, or the status that cuInit gave."""

import ctypes
import json

cuda = ctypes.CDLL("libcuda.so.1")
status = cuda.cuInit(0)
shown = []
if status == 0:
    count = ctypes.c_int()
    assert cuda.cuDeviceGetCount(ctypes.byref(count)) == 0
    for ordinal in range(count.value):
        device = ctypes.c_int()
        assert cuda.cuDeviceGet(ctypes.byref(device), ordinal) == 0
        text = ctypes.create_string_buffer(32)
        assert cuda.cuDeviceGetPCIBusId(text, 32, device) == 0
        uuid = ctypes.create_string_buffer(16)
        assert cuda.cuDeviceGetUuid_v2(uuid, device) == 0
        shown.append([text.value.decode(), uuid.raw.hex()])
print(json.dumps({"status": status, "devices": shown}))
