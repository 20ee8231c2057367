"""contextlib.redirect_stdout and redirect_stderr, sys.stdout replaced, descriptor 2 to a file and back."""

# frameworks: none tensorflow mxnet
import contextlib
import io
import os
import sys

import framework

with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
    print("kept")
    framework.compute()
    print("too", file=sys.stderr)
print(repr(out.getvalue()), repr(err.getvalue()))
saved = os.dup(2)
file = os.open("errors", os.O_WRONLY | os.O_CREAT)
os.dup2(file, 2)
print("into the file", file=sys.stderr)
for size in range(1, 200):
    framework.array(size)
os.dup2(saved, 2)
print("back", file=sys.stderr)
