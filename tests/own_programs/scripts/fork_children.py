"""os.fork: children that exit by os._exit, sys.exit, an exception and a signal; atexit in both."""

# frameworks: none tensorflow mxnet
# quick: none mxnet
import atexit
import os
import signal
import sys

import framework

parent = os.getpid()
atexit.register(lambda: print("atexit", "parent" if os.getpid() == parent else "child", flush=True))


def wait(pid):
    print("end", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


pid = os.fork()
if pid == 0:
    os._exit(3)
wait(pid)
pid = os.fork()
if pid == 0:
    sys.exit(4)
wait(pid)
pid = os.fork()
if pid == 0:
    raise ValueError("in the child")
wait(pid)
pid = os.fork()
if pid == 0:
    os.kill(os.getpid(), signal.SIGKILL)
wait(pid)
print(framework.compute())
