"""-W error from the start: every warning of the framework, or of what is in it, would end the program."""

# frameworks: none tensorflow mxnet
# command: PYTHON -W error -W ignore::DeprecationWarning -W ignore::SyntaxWarning -W ignore::FutureWarning -W ignore::ImportWarning "SCRIPT"
import warnings

import framework

print(framework.compute())
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for size in range(1, 50):
        framework.array(size)
    framework.compute()
print([(str(one.message), one.lineno) for one in caught])
warnings.warn("mine", UserWarning)
