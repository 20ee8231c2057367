"""A daemon as python-daemon makes one: two forks, a new session, every descriptor closed, umask 0."""

# frameworks: none tensorflow mxnet
# quick: none tensorflow
import os

import framework

framework.compute()
if os.fork():
    os._exit(0)
os.setsid()
os.umask(0)
if os.fork():
    os._exit(0)
for number in range(0, 1024):
    try:
        os.close(number)
    except OSError:
        pass
null = os.open(os.devnull, os.O_RDWR)
os.dup2(null, 1)
os.dup2(null, 2)
logs = [open(f"daemon{n}", "wb", buffering=0) for n in range(16)]
for line in range(500):
    for log in logs:
        log.write(b"line %d\n" % line)
with open("result", "w") as file:
    file.write("done\n")
