"""sys.path, sys.argv, __main__'s names, hooks, switch interval, limits: before and after the import."""

# frameworks: none tensorflow mxnet
# quick: none
import sys
import threading

names = sorted(globals())


def state():
    return {
        "path": sys.path[1:] == start[1:],
        "argv": sys.argv[1:],
        "flags": str(sys.flags),
        "excepthook": sys.excepthook is sys.__excepthook__,
        "threading": threading.excepthook is threading.__excepthook__,
        "unraisable": sys.unraisablehook is sys.__unraisablehook__,
        "displayhook": sys.displayhook is sys.__displayhook__,
        "stdout": sys.stdout is sys.__stdout__,
        "interval": sys.getswitchinterval(),
        "recursion": sys.getrecursionlimit(),
        "trace": (
            sys.gettrace(),
            sys.getprofile(),
            threading.gettrace() if hasattr(threading, "gettrace") else None,
        ),
        "main": sorted(vars(sys.modules["__main__"])),
        "hooks": len(sys.path_hooks),
        "path_start": [entry for entry in sys.path if "inject" in entry or "hopscope" in entry],
        "mains": sys.modules["__main__"] is not None,
    }


start = list(sys.path)
print(names, state())
import framework

framework.compute()
print(state())
