"""importlib.reload of the framework, and its modules imported once more after they were removed."""

# frameworks: none mxnet
import importlib
import sys

import framework

importlib.reload(sys.modules["json"] if "json" in sys.modules else importlib.import_module("json"))
importlib.reload(framework)
print(framework.compute())
try:
    importlib.reload(framework.module)
    print("reloaded", framework.compute())
except Exception as error:
    print(type(error).__name__, error)
