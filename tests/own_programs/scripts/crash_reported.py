"""faulthandler in the main thread at a segmentation fault, and by a timer."""

# frameworks: none tensorflow mxnet
import ctypes
import faulthandler
import resource

import framework

resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
framework.compute()
faulthandler.enable(all_threads=False)
ctypes.string_at(0)
