"""An import of the framework that fails in the middle, then succeeds; a missing submodule."""

# frameworks: none tensorflow mxnet
import builtins
import os

name = {"none": "json", "tensorflow": "tensorflow", "mxnet": "mxnet"}[os.environ["OWN_FRAMEWORK"]]
try:
    __import__(name + ".does_not_exist")
except ImportError as error:
    print(type(error).__name__, error)
import framework

print(framework.compute())
import not_there
