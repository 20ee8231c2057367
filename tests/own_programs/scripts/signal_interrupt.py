"""Ctrl-C: KeyboardInterrupt with its traceback, and the status of it."""

# frameworks: none tensorflow mxnet
# quick: none
import os
import signal

import framework

signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    os.kill(os.getpid(), signal.SIGINT)
except KeyboardInterrupt:
    print("caught")
framework.compute()
os.kill(os.getpid(), signal.SIGINT)
