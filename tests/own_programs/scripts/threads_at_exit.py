"""Threads that outlive the main one, compute and print until the end; daemons among them."""

# frameworks: none tensorflow mxnet
# quick: none
import threading

import framework

main = threading.main_thread()
go = threading.Event()


def late():
    main.join()
    for _ in range(20):
        framework.compute()
    print("late, but whole")


def forever():
    while True:
        framework.compute()


threading.Thread(target=late).start()
threading.Thread(target=forever, daemon=True).start()
print("main ends")
