"""A stray double close, and dup2 over numbers that the program does not know."""

# frameworks: none tensorflow mxnet
# quick: none mxnet
import os

import framework

framework.compute()
first = os.open("first", os.O_WRONLY | os.O_CREAT)
for number in range(first, max(3, first - 8), -1):
    try:
        os.close(number)
    except OSError:
        pass
files = [os.open(f"file{n}", os.O_RDWR | os.O_CREAT, 0o600) for n in range(8)]
for size in range(1, 800):
    framework.array(size)
target = os.open("target", os.O_RDWR | os.O_CREAT, 0o644)
for number in range(3, 30):
    os.dup2(target, number)
for size in range(800, 1600):
    framework.array(size)
os.pwrite(target, b"mine\n", 0)
print(os.fstat(target).st_size)
