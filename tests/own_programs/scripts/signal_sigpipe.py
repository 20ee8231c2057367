"""SIGPIPE at its default, written to a reader that left."""

# frameworks: none tensorflow mxnet
import os
import signal
import sys

import framework

signal.signal(signal.SIGPIPE, signal.SIG_DFL)
end, start = os.pipe()
os.close(end)
framework.compute()
print("before")
sys.stdout.flush()
os.write(start, b"nobody")
