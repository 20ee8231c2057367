"""sys.modules: what the program's own imports bring, and a user's module put there by hand."""

# frameworks: none tensorflow mxnet
import sys
import types

import framework

framework.compute()
sys.modules["made_by_hand"] = types.ModuleType("made_by_hand")
import made_by_hand

print(
    made_by_hand.__name__,
    [name for name in sys.modules if "hopscope" in name and not name.startswith("_hopscope")],
)
print(sorted(name for name in sys.modules if name.split(".")[0] in ("app", "probes", "tests", "runners")))
