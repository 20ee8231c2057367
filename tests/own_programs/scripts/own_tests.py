"""unittest and doctest: results, failures with their tracebacks, exit status."""

# frameworks: none tensorflow mxnet
import doctest
import io
import re
import sys
import unittest

import framework


def compute():
    """
    >>> compute()
    12.0
    >>> compute() / 0
    Traceback (most recent call last):
    ZeroDivisionError: float division by zero
    """
    return framework.compute()


class Case(unittest.TestCase):
    def test_right(self):
        self.assertEqual(compute(), 12.0)

    def test_fails(self):
        self.assertEqual(compute(), 13.0)

    def test_raises(self):
        framework.fail()

    def test_warns(self):
        with self.assertNoLogs(), self.assertRaises(Exception):
            framework.fail()


print(doctest.testmod())
stream = io.StringIO()
result = unittest.TextTestRunner(stream).run(unittest.defaultTestLoader.loadTestsFromTestCase(Case))
print(re.sub(r"in [\d.]+s", "in a moment", stream.getvalue()))
sys.exit(not result.wasSuccessful())
