"""python -S -E: no site, no variables; nothing is recorded."""

# frameworks: none
# command: PYTHON -S -E "SCRIPT"
import sys

import framework

print(framework.compute(), "site" in sys.modules)
