"""RLIMIT_NOFILE so low that nothing more can be opened, before the import and after."""

# frameworks: none tensorflow mxnet
import os
import resource

import framework

used = len(os.listdir("/proc/self/fd"))
resource.setrlimit(resource.RLIMIT_NOFILE, (max(map(int, os.listdir("/proc/self/fd"))) + 1,) * 2)
try:
    while True:
        os.open(os.devnull, os.O_RDONLY)
except OSError as error:
    print(error)
for size in range(1, 600):
    framework.array(size)
print("went on")
