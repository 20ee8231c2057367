"""python -m PACKAGE, with relative imports and a traceback."""

# frameworks: none tensorflow mxnet
# command: sh -c 'mkdir own && cp FOLDER/framework.py . && echo "value = 1" > own/part.py && cp "SCRIPT" own/__main__.py && exec PYTHON -m own x'
import sys

import framework

from .part import value

print(value, sys.argv[1:], __name__, __package__, framework.compute())
framework.fail()
