"""mx.profiler by the user: configured, run, dumped."""

# frameworks: mxnet
# ignored: profile.json
import json

import mxnet as mx

mx.profiler.set_config(profile_all=True, filename="profile.json", continuous_dump=False)
mx.profiler.set_state("run")
a = mx.nd.ones((20, 20))
for _ in range(10):
    a = mx.nd.dot(a, a) * 0.01
a.wait_to_read()
mx.profiler.set_state("stop")
mx.profiler.dump()
with open("profile.json") as file:
    events = json.load(file)["traceEvents"]
print(any(event.get("name") == "dot" for event in events))
