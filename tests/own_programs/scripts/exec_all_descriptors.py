"""os.execv with every descriptor inheritable: what the next program finds open."""

# frameworks: none tensorflow mxnet
import os
import sys

import framework

framework.compute()
for number in os.listdir("/proc/self/fd"):
    try:
        os.set_inheritable(int(number), True)
    except OSError:
        pass
code = "import os\nfor n in sorted(os.listdir('/proc/self/fd'), key=int):\n  try: t = os.readlink(f'/proc/self/fd/{n}')\n  except OSError: continue\n  if 'anon' in t or t.startswith('/dev') or 'socket' in t or 'pipe' in t or t.endswith(('out', 'err', '/fd')): continue\n  print(t)\nfor n in range(3, 64):\n  try: os.write(n, b'XXXX')\n  except OSError: pass"
os.execv("/usr/bin/env", ["env", "-i", sys.executable, "-I", "-c", code])
