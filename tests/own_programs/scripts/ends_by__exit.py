"""os._exit with a status, with buffers unflushed and threads alive."""

# frameworks: none tensorflow mxnet
# quick: none mxnet
import os
import sys
import threading

import framework

framework.compute()
threading.Thread(target=threading.Event().wait).start()
sys.stdout.write("shown\n")
sys.stdout.flush()
os._exit(9)
