"""weakref.finalize and __del__ that compute, during the run and at its end."""

# frameworks: none tensorflow mxnet
import weakref

import framework


class Thing:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("deleted", self.name, framework.compute() if self.name != "last" else "")


weakref.finalize(Thing("first"), print, "finalized")
one = Thing("second")
cycle = [Thing("third")]
cycle.append(cycle)
del one, cycle
import gc

gc.collect()
last = Thing("last")
print("end")
