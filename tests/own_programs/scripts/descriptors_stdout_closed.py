"""sys.stdout closed, descriptor 1 reused by a file; sys.stderr None."""

# frameworks: none tensorflow mxnet
# quick: none
import os
import sys

print("before", flush=True)
sys.stdout.close()
sys.stderr = None
import framework

framework.compute()
os.close(1)
file = open("taken", "w")
file.write(f"{file.fileno()}\n")
framework.compute()
file.close()
