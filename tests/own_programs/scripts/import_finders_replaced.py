"""sys.meta_path emptied to the three of Python, path_importer_cache cleared, sys.path cut."""

# frameworks: none tensorflow mxnet
import importlib
import importlib.machinery
import sys

sys.meta_path[:] = [
    importlib.machinery.BuiltinImporter,
    importlib.machinery.FrozenImporter,
    importlib.machinery.PathFinder,
]
sys.path_importer_cache.clear()
importlib.invalidate_caches()
# traces: no
import framework

print(framework.compute(), len(sys.meta_path))
