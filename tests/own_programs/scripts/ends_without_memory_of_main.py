"""sys.modules['__main__'] replaced, __file__ and sys.argv deleted, before the import."""

# frameworks: none mxnet
import sys
import types

sys.modules["__main__"] = types.ModuleType("__main__")
del sys.argv
import framework

print(framework.compute())
