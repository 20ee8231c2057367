"""python -I: neither PYTHONPATH nor the script's folder; nothing is recorded."""

# frameworks: none tensorflow mxnet
# command: PYTHON -I "SCRIPT"
# traces: no
import os
import sys

sys.path.append(os.environ["OWN_PROGRAMS"])
import framework

print(framework.compute(), len(sys.path), sorted(name for name in sys.modules if "hopscope" in name))
