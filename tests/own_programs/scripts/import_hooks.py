"""A finder first on sys.meta_path, a path hook, builtins.__import__ replaced: what they find and import."""

# frameworks: none tensorflow mxnet
# quick: none mxnet
import builtins
import importlib.abc
import importlib.util
import sys


class Finder(importlib.abc.MetaPathFinder):
    seen = []

    def find_spec(self, name, path=None, target=None):
        self.seen.append(name)
        if name == "made_up":
            return importlib.util.spec_from_loader(name, Loader())
        return None


class Loader(importlib.abc.Loader):
    def create_module(self, spec):
        return None

    def exec_module(self, module):
        module.value = 42


sys.meta_path.insert(0, Finder())
original, imported = builtins.__import__, []


def replaced(name, *args, **kwargs):
    imported.append(name)
    return original(name, *args, **kwargs)


builtins.__import__ = replaced
import framework
import made_up

builtins.__import__ = original
framework.compute()
print(made_up.value, "framework" in imported, Finder.seen[:2])
