"""The working folder deleted before the framework is imported."""

# frameworks: none tensorflow mxnet
# quick: none
# variables: PYTHONSAFEPATH=1
import os
import shutil
import sys

work = os.getcwd()
os.mkdir("inner")
os.chdir("inner")
os.rmdir(os.path.join(work, "inner"))
sys.path.insert(0, os.environ["OWN_PROGRAMS"])
import framework

print(framework.compute())
try:
    os.getcwd()
except FileNotFoundError:
    print("gone")
1 / 0
