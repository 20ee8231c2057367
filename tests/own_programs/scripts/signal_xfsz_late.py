"""SIGXFSZ at its default, a limit of 64 KiB from after the import; many lines and ops follow."""

# frameworks: none tensorflow mxnet
# quick: none
import resource
import signal

import framework

signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
for size in range(1, 1500):
    framework.array(size)
print("went on")
with open("large", "wb", buffering=0) as file:
    while True:
        file.write(b"x" * 16384)
