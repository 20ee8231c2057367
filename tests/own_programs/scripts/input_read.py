"""Standard input read to its end by input(), sys.stdin and os.read."""

# frameworks: none tensorflow mxnet
# command: sh -c 'printf "one\ntwo\nthree\nfour" | exec PYTHON "SCRIPT"'
import os
import sys

print(input())
import framework

print(input(), framework.compute())
print(sys.stdin.readline().encode(), sys.stdin.read())
print(os.read(0, 10))
