"""Exceptions of the framework in threads, in executors and in timers."""

# frameworks: none tensorflow mxnet
import concurrent.futures
import threading
import traceback

import framework


def work():
    framework.compute()
    return framework.fail()


thread = threading.Thread(target=work)
thread.start()
thread.join()
with concurrent.futures.ThreadPoolExecutor(1) as pool:
    try:
        pool.submit(work).result()
    except Exception:
        traceback.print_exc()
timer = threading.Timer(0.01, work)
timer.start()
timer.join()
thread = threading.Thread(target=print)
thread.start()
thread.join()
thread.start()
