"""traceback.print_exc, logging.exception, chained and grouped exceptions, sys.excepthook, __del__ errors."""

# frameworks: none tensorflow mxnet
# quick: none tensorflow mxnet
import logging
import sys
import traceback

import framework

logging.basicConfig(format="%(levelname)s %(filename)s:%(lineno)d %(funcName)s %(message)s")


def inner():
    return framework.fail()


def outer():
    try:
        inner()
    except Exception as error:
        raise ValueError("because of it") from error


try:
    inner()
except Exception:
    traceback.print_exc()
    print(len(traceback.extract_tb(sys.exc_info()[2])), file=sys.stderr)
try:
    outer()
except ValueError:
    logging.exception("logged")
    logging.warning("where it is", stack_info=True)


class Broken:
    def __del__(self):
        framework.fail()


Broken()
sys.excepthook = lambda kind, error, trace: print("hook", kind.__name__, len(traceback.extract_tb(trace)))
outer()
