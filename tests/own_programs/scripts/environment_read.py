"""os.environ as the program and its children see it, but for the recorder's own variables."""

# frameworks: none tensorflow mxnet
# quick: none
import os
import subprocess

import framework

framework.compute()
OURS = ("HOPSCOPE_RUN_DIR", "HOPSCOPE_TRACE", "PYTHONPATH")
print({name: value for name, value in sorted(os.environ.items()) if name not in OURS})
out = subprocess.run(["env"], capture_output=True, text=True).stdout
print([line for line in sorted(out.splitlines()) if line.partition("=")[0] not in OURS])
