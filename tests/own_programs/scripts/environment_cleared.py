"""os.environ cleared and set anew; children with an empty environment and with a copy."""

# frameworks: none tensorflow mxnet
# quick: none
import os
import subprocess
import sys

kept = dict(os.environ)
os.environ.clear()
import importlib

os.environ["OWN_FRAMEWORK"] = kept["OWN_FRAMEWORK"]
import framework

print(framework.compute(), sorted(os.environ))
print(
    subprocess.run(
        [sys.executable, "-c", "import os; print(sorted(os.environ))"], env={}, capture_output=True
    ).stdout
)
os.environ.update(A="1", B="2")
print(
    subprocess.run([sys.executable, "-c", "import os; print(sorted(os.environ))"], capture_output=True).stdout
)
