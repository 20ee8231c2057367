"""sys.exit and exceptions in threads, threading.excepthook, _thread.interrupt_main."""

# frameworks: none tensorflow mxnet
# quick: none mxnet
import _thread
import sys
import threading

import framework


def leaves():
    framework.compute()
    sys.exit(5)


def fails():
    framework.compute()
    raise RuntimeError("in a thread")


for target in (leaves, fails):
    thread = threading.Thread(target=target)
    thread.start()
    thread.join()
threading.excepthook = lambda args: print("hook", args.exc_type.__name__, args.exc_value, args.thread.name)
thread = threading.Thread(target=fails)
thread.start()
thread.join()
try:
    _thread.interrupt_main()
    threading.Event().wait(5)
except KeyboardInterrupt:
    print("interrupted")
threading.Thread(target=fails).start()
