"""python -i with its input at the end; the interactive hook."""

# frameworks: none tensorflow mxnet
# command: sh -c 'printf "print(2)\nframework.compute()\n" | exec PYTHON -i "SCRIPT"'
import framework

print(framework.compute())
framework.fail()
