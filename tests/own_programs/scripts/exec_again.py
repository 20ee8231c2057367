"""os.execv to itself, with descriptors open across it and without."""

# frameworks: none tensorflow mxnet
# quick: none mxnet
import os
import sys

import framework

turn = int(sys.argv[1]) if len(sys.argv) > 1 else 0
print("turn", turn, framework.compute(), flush=True)
if turn < 2:
    kept = os.open("kept", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o640)
    os.set_inheritable(kept, turn == 0)
    os.write(kept, b"turn %d\n" % turn)
    os.execv(sys.executable, [sys.executable, __file__, str(turn + 1)])
