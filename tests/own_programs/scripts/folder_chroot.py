"""os.chroot into an empty folder after the import; files are written there, ops go on."""

# frameworks: none tensorflow mxnet
import os

import framework

framework.compute()
os.mkdir("jail")
os.chroot("jail")
os.chdir("/")
with open("/inside", "w") as file:
    file.write("in jail\n")
for size in range(1, 300):
    framework.array(size)
print(sorted(os.listdir("/")), framework.compute())
