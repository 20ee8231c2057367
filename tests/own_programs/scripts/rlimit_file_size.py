"""A file size limit of less than a page, and SIGXFSZ at its default, from before the framework's import."""

# frameworks: none mxnet
# quick: none mxnet
# traces: no
import resource
import signal

signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_FSIZE, (4095, 4095))
import framework

print(framework.compute())
