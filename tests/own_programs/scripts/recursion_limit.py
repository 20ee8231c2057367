"""The recursion limit reached, with and without a framework's call at the end; the traceback of it."""

# frameworks: none tensorflow mxnet
import sys

import framework


def deep(n):
    return deep(n + 1) + 1


def computing(n):
    if n % 50 == 0:
        framework.compute()
    return computing(n + 1) + 1


for function in (deep, computing):
    try:
        function(0)
    except RecursionError as error:
        print(function.__name__, type(error).__name__)
print(framework.compute(), sys.getrecursionlimit())
deep(0)
