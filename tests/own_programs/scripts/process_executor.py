"""concurrent.futures over processes and threads, one worker killed on the way."""

# frameworks: none tensorflow mxnet
import concurrent.futures
import multiprocessing
import os
import signal
from concurrent.futures.process import BrokenProcessPool

import framework


def killed():
    os.kill(os.getpid(), signal.SIGKILL)


def name(n):
    return n, multiprocessing.current_process().daemon


if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        print(list(pool.map(name, range(4))))
        try:
            pool.submit(killed).result()
        except BrokenProcessPool:
            print("broken")
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        print(list(pool.map(lambda n: n * framework.compute(), range(8))))
