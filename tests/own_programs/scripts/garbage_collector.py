"""gc disabled, frozen, its callbacks, its thresholds; objects freed at once without it."""

# frameworks: none tensorflow mxnet
# quick: none
import gc
import weakref

import framework

print(gc.isenabled(), gc.get_threshold(), len(gc.callbacks), gc.get_debug())
calls = []
gc.callbacks.append(lambda phase, info: calls.append(phase))
gc.collect()
print(calls)
gc.callbacks.clear()
gc.disable()
gc.freeze()


class Model:
    def __init__(self):
        self.weights = framework.array(8)


model = Model()
weights = weakref.ref(model)
made = framework.array(16)
dead = []
try:
    weakref.finalize(made, dead.append, "array")
except TypeError:
    dead.append("array")
del model, made
print(weights() is None, dead)
gc.unfreeze()
