"""Started with standard input, output and error closed: files get the numbers 0, 1 and 2."""

# frameworks: none tensorflow mxnet
# quick: none mxnet
# command: sh -c 'exec "PYTHON" "SCRIPT" <&- >&- 2>&-'
import os

import framework

framework.compute()
numbers = [os.open(f"file{n}", os.O_RDWR | os.O_CREAT) for n in range(4)]
for n, number in enumerate(numbers):
    os.write(number, b"%d is mine\n" % n)
for size in range(1, 300):
    framework.array(size)
os.write(2, b"")
