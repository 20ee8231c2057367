"""RLIMIT_AS and RLIMIT_STACK: a MemoryError is caught, and the program goes on."""

# frameworks: none tensorflow mxnet
import resource

import framework

framework.compute()
resource.setrlimit(resource.RLIMIT_STACK, (4 << 20, 4 << 20))
with open("/proc/self/statm") as file:
    size = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + (256 << 20),) * 2)
try:
    bytearray(1 << 30)
except MemoryError:
    print("no memory")
for size in range(1, 300):
    framework.array(size)
print(framework.compute())
