"""SIGXFSZ at its default, with a file size limit of 64 KiB from before the framework's import."""

# frameworks: none tensorflow mxnet
# quick: none mxnet
import resource
import signal

signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
import framework

for number in range(2000):
    framework.compute()
with open("small", "wb") as file:
    file.write(b"x" * 60000)
print("went on")
