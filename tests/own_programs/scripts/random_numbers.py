"""Seeds of random and numpy, hash order, object identity: the recorder must draw nothing."""

# frameworks: none tensorflow mxnet
import random

random.seed(7)
import framework

print(random.random(), [random.randint(0, 99) for _ in range(5)])
try:
    import numpy

    numpy.random.seed(3)
    framework.compute()
    print(numpy.random.rand(3).tolist())
except ImportError:
    pass
