"""_thread.start_new_thread and a Thread subclass that overrides run, start and the constructor."""

# frameworks: none tensorflow mxnet
import _thread
import threading

import framework

done = threading.Semaphore(0)


def raw():
    framework.compute()
    done.release()


_thread.start_new_thread(raw, ())
done.acquire()


class Own(threading.Thread):
    __slots__ = ()

    def __init__(self):
        self.made = True
        super().__init__(name="own", daemon=False)

    def start(self):
        print("starting")
        super().start()

    def run(self):
        print(threading.current_thread().name, framework.compute())


thread = Own()
thread.start()
thread.join()
local = threading.local()
local.value = 1
print(local.__dict__, threading.active_count())
