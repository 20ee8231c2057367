"""SIGTERM without a handler ends it."""

# frameworks: none tensorflow mxnet
# quick: none
import atexit
import os
import signal
import sys

import framework

atexit.register(print, "never shown")
print("before")
sys.stdout.flush()
os.kill(os.getpid(), signal.SIGTERM)
print("not reached")
