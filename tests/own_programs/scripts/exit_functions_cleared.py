"""atexit._run_exitfuncs and atexit._clear called by the program, which computes on afterwards."""

# frameworks: none tensorflow
import atexit

import framework

atexit.register(print, "once")
atexit._run_exitfuncs()
print(framework.compute())
atexit.register(print, "never")
atexit._clear()
print(framework.compute())
