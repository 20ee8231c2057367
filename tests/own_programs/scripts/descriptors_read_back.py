"""Every unknown descriptor closed, then files opened w+b, written and read back while ops go on."""

# frameworks: none tensorflow mxnet
# quick: none mxnet
import os

import framework

framework.compute()
for number in range(3, 512):
    try:
        os.close(number)
    except OSError:
        pass
files = [open(f"data{n}", "w+b") for n in range(12)]
for file in files:
    file.write(bytes(range(256)) * 4096)
    file.flush()
for size in range(1, 1200):
    framework.array(size)
for n, file in enumerate(files):
    file.seek(0)
    print(n, file.read() == bytes(range(256)) * 4096)
