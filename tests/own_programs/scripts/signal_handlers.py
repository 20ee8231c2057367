"""Handlers of SIGTERM, SIGALRM and SIGUSR1, an interval timer, masks, every signal's disposition."""

# frameworks: none tensorflow mxnet
# quick: none mxnet
import os
import signal
import threading

before = {number: str(signal.getsignal(number)) for number in signal.valid_signals()}
import framework

after = {number: str(signal.getsignal(number)) for number in signal.valid_signals()}
print("changed", [number.name for number in before if before[number] != after[number]])
seen = []
for number in (signal.SIGTERM, signal.SIGALRM, signal.SIGUSR1):
    signal.signal(
        number, lambda number, frame: seen.append((signal.Signals(number).name, frame.f_code.co_name))
    )
os.kill(os.getpid(), signal.SIGTERM)
os.kill(os.getpid(), signal.SIGUSR1)
signal.setitimer(signal.ITIMER_REAL, 0.05)
while len(seen) < 3:
    pass
print(seen)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)
print(signal.sigpending(), signal.sigwait({signal.SIGUSR1}))
print(framework.compute())
