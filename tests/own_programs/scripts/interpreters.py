"""Subinterpreters beside the main one."""

# frameworks: none tensorflow mxnet
import os
import sys

import framework

try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters
print(framework.compute())
for _ in range(3):
    one = interpreters.create()
    interpreters.run_string(
        one, "import os, sys; os.write(1, b'inside %d\\n' % len(sys.path)); import json, threading"
    )
    interpreters.destroy(one)
print(framework.compute())
