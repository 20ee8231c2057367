"""python -X dev: resource warnings, debug hooks, every deprecation shown."""

# frameworks: none tensorflow mxnet
# command: PYTHON -X dev "SCRIPT"
import framework

print(framework.compute())
for size in range(1, 50):
    framework.array(size)
open("left open", "w")
print("end")
