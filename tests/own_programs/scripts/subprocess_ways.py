"""subprocess: close_fds, pass_fds, start_new_session, preexec_fn, a shell, a timeout, a Python child."""

# frameworks: none tensorflow mxnet
import os
import subprocess
import sys

import framework

framework.compute()
end, start = os.pipe()
os.set_inheritable(start, True)
subprocess.run(["sh", "-c", f"echo passed >&{start}"], pass_fds=[start])
print(os.read(end, 100))
os.close(end)
os.close(start)
print(subprocess.run(["ls", "/proc/self/fd"], capture_output=True, text=True, close_fds=False).stdout.split())
print(subprocess.run(["true"], preexec_fn=lambda: os.umask(0), start_new_session=True).returncode)
try:
    subprocess.run(["sleep", "30"], timeout=0.2)
except subprocess.TimeoutExpired:
    print("too long")
child = "import sys, os; sys.path.insert(0, os.environ['OWN_PROGRAMS']); import framework; print(framework.compute()); framework.fail()"
done = subprocess.run([sys.executable, "-c", child], capture_output=True, text=True)
print(done.returncode, done.stdout)
print(done.stderr.splitlines()[-1])
print(os.system("exit 3"), os.popen("echo popen").read())
