"""os.fork in threads while others compute; order of os.register_at_fork."""

# frameworks: none tensorflow mxnet
import os
import threading

import framework

calls = []
os.register_at_fork(before=lambda: calls.append("before"), after_in_parent=lambda: calls.append("parent"))
os.register_at_fork(after_in_child=lambda: calls.append("child"))
ends = []
stop = threading.Event()


def busy():
    while not stop.is_set():
        framework.compute()


def forks():
    for _ in range(5):
        pid = os.fork()
        if pid == 0:
            os._exit(7 if calls[-1] == "child" else 8)
        ends.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


other = threading.Thread(target=busy)
other.start()
threads = [threading.Thread(target=forks) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
stop.set()
other.join()
print(sorted(ends), calls.count("before"), calls.count("parent"))
