"""A program in a zip archive, started as one; zipimport, pkgutil and importlib.resources in it."""

# frameworks: none tensorflow mxnet
import os
import subprocess
import sys
import zipfile

with zipfile.ZipFile("program.zip", "w") as archive:
    archive.writestr(
        zipfile.ZipInfo("__main__.py"),
        "import sys; sys.path.append(sys.argv[1])\nimport inside, framework, pkgutil\nprint(__name__, __file__, inside.value, framework.compute())\nprint(pkgutil.get_data('inside', 'data.txt'))\n1 / 0\n",
    )
    archive.writestr(zipfile.ZipInfo("inside.py"), "value = __loader__.__class__.__name__\n")
    archive.writestr(zipfile.ZipInfo("data.txt"), "data")
done = subprocess.run([sys.executable, "program.zip", os.environ["OWN_PROGRAMS"]])
print(done.returncode)
