"""python -c with arguments, a traceback of it."""
# frameworks: none tensorflow mxnet
# command: sh -c 'cd FOLDER && exec PYTHON -c "import sys, framework; print(sys.argv, __name__, framework.compute()); framework.fail()" a b'
