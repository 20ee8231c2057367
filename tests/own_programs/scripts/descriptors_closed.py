"""os.closerange(3, 256), then 16 log files, each written to the end; the ops go on."""

# frameworks: none tensorflow mxnet
# quick: none mxnet
import os

import framework

framework.compute()
os.closerange(3, 256)
logs = [open(f"log{n}", "w") for n in range(16)]
for line in range(3000):
    for n, log in enumerate(logs):
        log.write(f"{n} line {line} of a log that nobody else writes to\n")
    if line % 30 == 0:
        framework.array(line + 1)
for log in logs:
    log.close()
print("closed")
