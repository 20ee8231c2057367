"""Bytes that are no text, surrogates, partial lines, writes to descriptors 1 and 2 from several threads."""

# frameworks: none tensorflow mxnet
# quick: none
import os
import sys
import threading

import framework

framework.compute()
sys.stdout.buffer.write(bytes(range(256)) * 10)
os.write(2, bytes(range(255, -1, -1)))
sys.stdout.reconfigure(errors="surrogateescape")
sys.stdout.write("\udcff\udc80 no newline")
sys.stdout.flush()
threads = [threading.Thread(target=os.write, args=(1, b"x" * 1000)) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
os.write(2, b"I0000 00:00:1700000000.000000 1 executor.cc:1] not the framework's\nW no end")
