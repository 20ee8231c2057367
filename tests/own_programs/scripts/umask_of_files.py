"""os.umask 0 and 077 from before the import; permissions of what is written."""

# frameworks: none tensorflow mxnet
# quick: none mxnet
import os

os.umask(0)
import framework

framework.compute()
open("open_to_all", "w").close()
os.mkdir("folder")
print(oct(os.umask(0o077)))
open("own", "w").close()
framework.compute()
print(oct(os.umask(0o022)))
