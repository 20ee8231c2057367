"""pytest on a file of the user's: a failure, an error, capture, warnings."""

# frameworks: none
# command: sh -c 'cp FOLDER/framework.py . && cp "SCRIPT" test_own.py && exec PYTHON -m pytest -q -p no:cacheprovider -p no:xdist -p no:timeout -p no:randomly test_own.py | sed "s/ in [0-9.]*s//"'
import warnings

import framework


def test_right(capfd):
    print(framework.compute())
    assert capfd.readouterr().out == "12.0\n"


def test_fails():
    assert framework.compute() == 13.0


def test_raises():
    framework.fail()


def test_warns():
    warnings.warn("mine", UserWarning)
