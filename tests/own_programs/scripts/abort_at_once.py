"""os.abort: the status, and nothing else."""

# frameworks: none tensorflow mxnet
import os
import resource

import framework

resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
print("before", flush=True)
os.abort()
