"""python -O: no assertions."""

# frameworks: none tensorflow mxnet
# command: PYTHON -O "SCRIPT"
import framework

assert False
print(framework.compute(), __doc__)
