"""os.chdir elsewhere, relative sys.argv[0] and __file__, files by relative paths."""

# frameworks: none tensorflow mxnet
# command: sh -c 'cp FOLDER/framework.py . && cp "SCRIPT" here.py && exec PYTHON here.py'
import os
import sys

os.makedirs("else/where")
os.chdir("else/where")
import framework

print(framework.compute(), sys.argv, __file__)
with open("written", "w") as file:
    file.write("here\n")


def fails():
    raise ValueError("relative")


fails()
