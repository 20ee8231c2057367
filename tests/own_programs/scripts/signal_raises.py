"""A timer's handler that raises an exception of the program's own: the only way out of sixty loops."""

# frameworks: none mxnet
# quick: none mxnet
import signal
import sys
import time

import framework


class Late(Exception):
    pass


def ring(*given):
    raise Late


# One that comes where the framework itself frees an array ends there.
sys.unraisablehook = lambda *given: None
signal.signal(signal.SIGALRM, ring)
lost = 0
for number in range(60):
    end = time.monotonic() + 2
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0005 + number / 15_000)
        while time.monotonic() < end:
            sum(range(200))  # here it passes, and in the recorder's own code
            framework.array(3)
        lost += 1
    except Late:
        pass
print("lost many", lost > 5)
