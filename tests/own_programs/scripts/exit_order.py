"""Order of atexit functions, of threading's, of finalizers, and output in them; sys.exit's status."""

# frameworks: none tensorflow mxnet
# quick: none tensorflow mxnet
import atexit
import sys
import threading
import weakref

atexit.register(print, "first registered")
import framework

atexit.register(print, "after the import")
threading._register_atexit(print, "threads end")


class Thing:
    pass


thing = Thing()
weakref.finalize(thing, print, "finalized")
atexit.register(lambda: print("computed", framework.compute()))


class Last:
    def __del__(self):
        sys.stdout.write("deleted\n")


last = Last()


def fails():
    raise ValueError("at exit")


atexit.register(fails)
sys.exit(6)
