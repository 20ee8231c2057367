"""threading.enumerate and active_count, names of new threads, waiting until no other thread is left."""

# frameworks: none tensorflow mxnet
# quick: none mxnet
import threading

import framework

framework.compute()
thread = threading.Thread(target=print, args=("in a thread",))
print(thread.name, threading.active_count(), [one.name for one in threading.enumerate()])
thread.start()
thread.join()
timer = threading.Timer(0.01, print, ("timer",))
print(timer.name)
timer.start()
for one in threading.enumerate():
    if one is not threading.main_thread():
        one.join(10)
        print("ended", one.name, not one.is_alive())
while threading.active_count() > 1:
    pass
print(threading.stack_size(), threading.current_thread().name)
