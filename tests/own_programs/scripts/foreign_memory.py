"""ctypes callbacks, mmap of a file, shared memory, locale."""

# frameworks: none tensorflow mxnet
import ctypes
import locale
import mmap
from multiprocessing import shared_memory

import framework

compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
values = (ctypes.c_int * 5)(5, 3, 1, 4, 2)
ctypes.CDLL(None).qsort(values, 5, 4, compare(lambda a, b: framework.compute() and a[0] - b[0]))
print(list(values))
with open("mapped", "w+b") as file:
    file.truncate(1 << 20)
    with mmap.mmap(file.fileno(), 0) as mapped:
        mapped[:5] = b"mine\n"
        framework.array(100)
shared = shared_memory.SharedMemory(create=True, size=4096)
shared.buf[:4] = b"here"
print(bytes(shared.buf[:4]))
shared.close()
shared.unlink()
print(locale.setlocale(locale.LC_ALL, ""), locale.getpreferredencoding())
