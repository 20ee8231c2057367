"""A program on standard input."""

# frameworks: none tensorflow mxnet
# command: sh -c 'cd FOLDER && exec PYTHON - a < "SCRIPT"'
import sys

import framework

print(sys.argv, __name__, framework.compute())


def fails():
    framework.fail()


fails()
