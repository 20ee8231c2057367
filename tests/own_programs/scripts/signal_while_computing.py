"""Timer signals whose handler computes, in the middle of eager ops; a thousand of them."""

# frameworks: none tensorflow mxnet
import signal

import framework

count = wrong = 0


def ring(number, frame):
    global count, wrong
    count += 1
    wrong += framework.compute() != 12.0


signal.signal(signal.SIGALRM, ring)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
while count < 300:
    wrong += framework.compute() != 12.0
signal.setitimer(signal.ITIMER_REAL, 0)
print("wrong", wrong)
