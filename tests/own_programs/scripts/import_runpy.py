"""runpy.run_path and run_module, as scripts that start scripts do."""

# frameworks: none tensorflow mxnet
import runpy
import sys

with open("started.py", "w") as file:
    file.write(
        "import sys, framework\nprint(__name__, sys.argv, framework.compute())\nresult = 3\nsys.exit(2)\n"
    )
sys.argv = ["started.py", "one"]
try:
    runpy.run_path("started.py", run_name="__main__")
except SystemExit as end:
    print("ended", end.code)
sys.path.insert(0, ".")
with open("as_module.py", "w") as file:
    file.write("import framework\nvalue = framework.compute()\n")
print(runpy.run_module("as_module")["value"])
