"""200 MB to standard output and 20 MB to standard error."""

# frameworks: none tensorflow mxnet
import sys

import framework

framework.compute()
line = b"0123456789abcdef" * 4096
for number in range(3200):
    sys.stdout.buffer.write(line)
    if number % 10 == 0:
        sys.stderr.buffer.write(line)
