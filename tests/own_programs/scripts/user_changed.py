"""os.setgid and os.setuid to nobody after the import; files and forks as that user."""

# frameworks: none tensorflow mxnet
import os

import framework

framework.compute()
os.mkdir("theirs", 0o777)
os.chmod("theirs", 0o777)
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
with open("theirs/file", "w") as file:
    file.write("written by nobody\n")
for size in range(1, 300):
    framework.array(size)
pid = os.fork()
if pid == 0:
    print("child", os.getuid(), flush=True)
    os._exit(0)
os.waitpid(pid, 0)
print(os.getuid(), framework.compute())
