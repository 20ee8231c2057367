"""The numbers that files get: the lowest free one, before and after the framework."""

# frameworks: none tensorflow mxnet
import os

free = os.open("before", os.O_CREAT | os.O_RDWR)
os.close(free)
import framework

framework.compute()
now = os.open("after", os.O_CREAT | os.O_RDWR)
print(free, [number for number in range(3, now + 1) if os.path.exists(f"/proc/self/fd/{number}")])
