"""A double of NVIDIA's driver: libnvidia-ml.so.1 and libcuda.so.1 at their C interfaces.

It is made of C and steered from Python, and stands in where there is no driver, so that the real client code
runs. Its figures are made up.
"""

from tests.nvml.control import NvmlDouble
from tests.nvml.missing import why_not

__all__ = ["NvmlDouble", "why_not"]
