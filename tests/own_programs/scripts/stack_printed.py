"""traceback.print_stack, inspect.stack, sys._getframe, faulthandler.dump_traceback: in main and in a thread."""

# frameworks: none tensorflow mxnet
# quick: none tensorflow mxnet
import faulthandler
import inspect
import sys
import threading
import traceback

import framework

framework.compute()


def where():
    traceback.print_stack()
    print([(one.function, one.lineno) for one in inspect.stack()])
    faulthandler.dump_traceback(all_threads=False)
    depth, frame = 0, sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    print("depth", depth)


where()
thread = threading.Thread(target=where)
thread.start()
thread.join()
