"""RLIMIT_NPROC and RLIMIT_CORE and niceness: read and set."""

# frameworks: none tensorflow mxnet
import os
import resource

names = [name for name in dir(resource) if name.startswith("RLIMIT_")]
before = {name: resource.getrlimit(getattr(resource, name)) for name in names}
import framework

framework.compute()
print([name for name in names if before[name] != resource.getrlimit(getattr(resource, name))])
os.nice(5)
print(os.getpriority(os.PRIO_PROCESS, 0), os.sched_getaffinity(0) == os.sched_getaffinity(1) or "own")
