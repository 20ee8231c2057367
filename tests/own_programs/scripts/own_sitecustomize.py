"""A sitecustomize of the user's on PYTHONPATH, a usercustomize, an -X option."""

# frameworks: none tensorflow mxnet
# command: sh -c 'mkdir own && echo "print(\"the own one\", __name__, __file__)" > own/sitecustomize.py && PYTHONPATH="$PYTHONPATH:own" exec PYTHON -X own=1 "SCRIPT"'
import sys

import framework

print(framework.compute(), sys._xoptions, sys.modules["sitecustomize"].__file__)
