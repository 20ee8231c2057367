"""signal.set_wakeup_fd with a socket pair."""

# frameworks: none tensorflow mxnet
import os
import signal
import socket

import framework

ours, theirs = socket.socketpair()
theirs.setblocking(False)
print(signal.set_wakeup_fd(theirs.fileno()))
signal.signal(signal.SIGUSR2, lambda *_: None)
os.kill(os.getpid(), signal.SIGUSR2)
framework.compute()
print(ours.recv(10) == bytes([signal.SIGUSR2]))
signal.set_wakeup_fd(-1)
