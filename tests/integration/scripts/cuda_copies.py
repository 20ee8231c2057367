"""Copies through two devices of libcuda.so.1 and back, and does what must be refused; prints JSON."""

import ctypes
import json

cuda = ctypes.CDLL("libcuda.so.1")
SIZE = 1 << 20


def ask(name, *arguments):
    return getattr(cuda, name)(*arguments)


def do(name, *arguments):
    status = ask(name, *arguments)
    assert status == 0, (name, status)


said = {"before": ask("cuCtxSynchronize")}
do("cuInit", 0)
said["no context"] = ask("cuMemAlloc_v2", ctypes.byref(ctypes.c_uint64()), ctypes.c_size_t(1))
contexts, memory = [], []
for device in range(2):
    context, address = ctypes.c_void_p(), ctypes.c_uint64()
    do("cuCtxCreate_v2", ctypes.byref(context), 0, device)
    do("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(SIZE))
    contexts.append(context)
    memory.append(address)
data = bytes(range(256)) * (SIZE // 256)
back = ctypes.create_string_buffer(SIZE)
size = ctypes.c_size_t(SIZE)
can = ctypes.c_int()
do("cuDeviceCanAccessPeer", ctypes.byref(can), 1, 0)
said["peer"] = can.value
said["enabled"] = [ask("cuCtxEnablePeerAccess", contexts[0], 0) for _ in range(2)]
start, end = ctypes.c_void_p(), ctypes.c_void_p()
do("cuEventCreate", ctypes.byref(start), 0)
do("cuEventCreate", ctypes.byref(end), 0)
do("cuEventRecord", start, None)
do("cuMemcpyHtoD_v2", memory[0], data, size)
do("cuMemcpyPeer", memory[1], contexts[1], memory[0], contexts[0], size)
do("cuMemcpyDtoH_v2", back, memory[1], size)
do("cuEventRecord", end, None)
do("cuEventSynchronize", end)
milliseconds = ctypes.c_float()
do("cuEventElapsedTime", ctypes.byref(milliseconds), start, end)
said["same"] = back.raw == data
said["took time"] = milliseconds.value > 0
said["too long"] = ask("cuMemcpyHtoD_v2", memory[0], data + b"x", ctypes.c_size_t(SIZE + 1))
unused, total = ctypes.c_size_t(), ctypes.c_size_t()
do("cuMemGetInfo_v2", ctypes.byref(unused), ctypes.byref(total))
said["too much"] = ask("cuMemAlloc_v2", ctypes.byref(ctypes.c_uint64()), ctypes.c_size_t(unused.value + 1))
do("cuMemFree_v2", memory[0])
said["freed twice"] = ask("cuMemFree_v2", memory[0])
do("cuCtxDestroy_v2", contexts[0])
said["destroyed"] = ask("cuCtxSetCurrent", contexts[0])
print(json.dumps(said))
