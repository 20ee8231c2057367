"""sys.settrace and sys.setprofile that look at the program's own lines; still installed at the end."""

# frameworks: none tensorflow mxnet
# quick: none mxnet
import sys
import threading

lines, calls = [], []


def trace(frame, event, arg):
    if frame.f_code.co_filename == __file__:
        lines.append((event, frame.f_lineno))
        return trace
    return None


def profile(frame, event, arg):
    if frame.f_code.co_filename == __file__ and event in ("call", "return"):
        calls.append((event, frame.f_code.co_name))


import framework

sys.settrace(trace)
sys.setprofile(profile)
threading.settrace(trace)
threading.setprofile(profile)


def work(n):
    total = 0
    for _ in range(n):
        total += framework.compute()
    return total


work(3)
thread = threading.Thread(target=work, args=(2,))
thread.start()
thread.join()
print(sys.gettrace() is trace, sys.getprofile() is profile)
sys.settrace(None)
sys.setprofile(None)
print(lines)
print(calls)
